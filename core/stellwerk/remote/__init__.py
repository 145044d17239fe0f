"""SSH: trust, pairing, sending the agent, one RPC session per node."""
