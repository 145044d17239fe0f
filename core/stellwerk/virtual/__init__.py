"""Simulated Sparks behind real SSH servers: real agent, real processes, simulated hardware.

Everything that is simulated says so in its product name. `VirtualCluster` is the desktop's handle; the cluster itself
is a process of its own (`python -m stellwerk.virtual`).

What is real: SSH with its logins, keys, SFTP, channels and tunnels; every process on a node; Unix sockets, signals,
exit codes; files and their contents; the agent. What is simulated, and differs from a machine:

* Links, addresses, ARP, routes, forwarding, firewall and MTU follow the rules of Linux in a model; no packet is sent.
  Programs that open TCP connections between nodes use loopback addresses (the address map); pulled cables do not stop
  them. SSH from node to node asks the model first.
* Bandwidth, latency, temperatures and GPU values are figures out of a model. A measurement takes one second at most and
  a lost ping 0.3 s, whatever was asked for; configuring an interface takes 0.3 s.
* All users of a node are one user of this computer: being root is a mark on a process that the simulated commands ask
  for, and permissions of files mean nothing between the two.
* `reboot` is sudden, without a shutdown. /dev, the journal of systemd and packages do not exist.
"""

from stellwerk.virtual.client import VirtualCluster, VirtualNode

__all__ = ["VirtualCluster", "VirtualNode"]
