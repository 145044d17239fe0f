"""Collective, decode and training measurements and their history."""
