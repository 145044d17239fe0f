"""One function per finding code."""
