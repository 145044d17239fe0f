"""Stellwerk: turns one to eight DGX Spark machines into a cluster and keeps it in hand."""

__version__ = "0.1.0"
