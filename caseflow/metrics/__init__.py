"""What Prometheus reads: the indicators of the console's pages, asked anew at every scrape, of the whole platform.

Counts and ages only. Labels are codes of this program and of its outside systems: no organisation, no person, no id.
"""
