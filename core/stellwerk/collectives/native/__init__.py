"""The C sources of the collective core and how they are compiled."""
