"""Plain frozen dataclasses that travel between desktop and node. Standard library only."""
