"""Collective communication for small messages: algorithms, transports, start-up tests, fallback."""
