"""From facts to ports, cabling, topology, addresses, netplan files, environment and verification."""
