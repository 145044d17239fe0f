"""HTTP/1.1 for the gateway and the simulated engine: strict heads, bodies of known length, bounded everything."""
