"""Applies a network plan as root; goes back by itself unless confirmed."""
