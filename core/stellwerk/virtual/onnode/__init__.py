"""Programs that are copied onto simulated nodes and run there by the system's python3; never imported."""
