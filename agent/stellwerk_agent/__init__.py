"""What runs on a node: standard library only, Python 3.10 or newer."""
