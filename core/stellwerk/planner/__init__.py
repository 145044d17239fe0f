"""What fits, how fast, ring or switch."""
