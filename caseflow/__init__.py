"""Caseflow drives a business case through checks, a person's decision, an effect outside, and the proof of it."""
