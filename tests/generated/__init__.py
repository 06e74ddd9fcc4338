"""Many cases with a history, in every state: for pages, indicators and speed, never for an installation in use.

A case is told by a story, step by step as the engine would, and kept as rows; rows go in by COPY as the owner.
"""
