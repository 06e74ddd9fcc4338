"""The same case as others would drive it. Runs in an environment of its own: `lock/bench.txt`."""
