"""The outside world for tests and the demo: payments, subscriptions, mail.

Another program: it imports nothing of the product.
"""
