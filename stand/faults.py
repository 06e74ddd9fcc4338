"""`make faults`: crash every process at every point that exists and check that nothing is lost or done twice."""

import runpy

if __name__ == "__main__":
    runpy.run_module("tests.faults", run_name="__main__", alter_sys=True)
