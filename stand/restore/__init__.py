"""A backup, and what becomes of it elsewhere: `restore` brings one back, `python -m stand.restore` drills it."""
