"""Simulated Sparks behind real SSH servers: real agent, real processes, simulated hardware.

Everything that is simulated says so in its product name. `VirtualCluster` is the desktop's handle; the cluster itself
is a process of its own (`python -m stellwerk.virtual`).
"""

from stellwerk.virtual.client import VirtualCluster, VirtualNode

__all__ = ["VirtualCluster", "VirtualNode"]
