"""What happened, to follow, filter and copy."""
