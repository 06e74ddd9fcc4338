"""`make soak`: the whole system under steady arrivals and steady faults, then a count of what was lost."""
