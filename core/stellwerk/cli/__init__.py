"""The command line: the twin of every button."""
