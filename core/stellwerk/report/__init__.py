"""Verification reports as JSON and HTML."""
