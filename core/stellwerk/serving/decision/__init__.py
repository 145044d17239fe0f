"""Which pool answers a request: `decide(policy, request, state)` and what it looks at."""
