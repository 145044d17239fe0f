"""Every fault at every moment of an apply, on simulated machines: does each end on the old or the new network?"""
