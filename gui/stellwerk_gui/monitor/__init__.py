"""Graphs, tiles and the live strip."""
