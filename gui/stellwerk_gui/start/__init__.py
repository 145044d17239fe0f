"""The first page: three doors, the network, recent clusters."""
