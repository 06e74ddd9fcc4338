"""Pages, by topic: they gather, call a service, and show."""
