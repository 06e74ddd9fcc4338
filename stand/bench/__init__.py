"""`make bench`: how fast a case goes through, beside what others would use, on one machine in one run."""
