"""The stand starts real servers and real processes of one checkout: for `make demo`, `make smoke` and the tests.

It knows the product only from outside: by its commands, its environment and its addresses.
"""
