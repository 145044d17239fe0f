"""Engines that a pool can be made of, and those that only pretend."""
