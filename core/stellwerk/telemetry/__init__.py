"""Counters to rates, ring buffers."""
