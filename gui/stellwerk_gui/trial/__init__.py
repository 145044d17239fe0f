"""Try a virtual cluster: its process, and the panel that breaks and mends it."""
