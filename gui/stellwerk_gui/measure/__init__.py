"""*Measure*: collectives by size and ranks, on this computer or on the open cluster."""
