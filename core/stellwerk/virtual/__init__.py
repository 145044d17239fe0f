"""Simulated Sparks behind a real SSH server."""
