"""`python -m tests.model`: how many states there are, and each counter-example in full."""

from __future__ import annotations

from .explore import explore, told
from .settings import DOORS, MISSED, WHOLE, without

states, seconds = 0, 0.0
for name, setting in WHOLE.items():
    found = explore(setting)
    states, seconds = states + found.states, seconds + found.seconds
    print(f"{name}: {found.states:,} states, {found.steps:,} steps, {found.seconds:.1f} s", flush=True)
    if found.problem:
        print(told(found))
print(f"{states:,} states in {seconds:.1f} s of the processor")
removals = [((name,), setting) for name, setting, _ in MISSED]
removals += [((outer, inner), setting) for outer, inner, setting, _ in DOORS]
for names, setting in removals:
    print(f"\nwithout {' and '.join(names)}: {told(explore(without(setting, *names)))}")
