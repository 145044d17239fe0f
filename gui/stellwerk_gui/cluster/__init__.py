"""The cluster as a map and a table."""
