"""What is watched (requirements H1–H9): numbers for pages, and without a scope for `/metrics`.

Each function takes a `Scope` and asks one query, however many rows there are.
"""
