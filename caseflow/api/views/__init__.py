"""The endpoints, a file per noun."""
