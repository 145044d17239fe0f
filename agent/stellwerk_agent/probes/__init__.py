"""Read the machine: host, network, RDMA, GPU."""
