"""`make screenshots`: every page of the console in both languages and both themes, as pictures; axe looks at each."""

import runpy

if __name__ == "__main__":
    runpy.run_module("tests.walk", run_name="__main__", alter_sys=True)
