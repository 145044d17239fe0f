"""C sources of the scan loop and how they are compiled."""
