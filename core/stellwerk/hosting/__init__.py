"""Long-running services as jobs of the nodes' agents: the desktop's side. What runs there is in `stellwerk.serving`."""
