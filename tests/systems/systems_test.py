# SPDX-License-Identifier: GPL-3.0-or-later
"""systems.py: what is kept where only some capabilities have been run."""
import os
import pathlib
import subprocess
import sys
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from systems import put


def column(gdb, **cells):
    return {"library": "mpich", "gdb": gdb, "cells": cells}


class SystemsTest(unittest.TestCase):
    def test_the_others_stay(self):
        results = {"Debian 12": {"MPICH 4.0.2": column("13.1", record="works", window="not tried")}, "Debian 13": {"MPICH 4.2.1": column("16.3", dap="works")}}
        put(results, {"Debian 12": {"MPICH 4.0.2": column("13.1", window="works")}})
        self.assertEqual(results["Debian 12"]["MPICH 4.0.2"]["cells"], {"record": "works", "window": "works"})
        self.assertEqual(results["Debian 13"]["MPICH 4.2.1"]["cells"], {"dap": "works"})

    def test_another_version_is_another_column(self):
        """Nothing of what the former one did is said of it."""
        results = {"Debian 12": {"MPICH 4.0.2": column("13.1", record="works")}}
        put(results, {"Debian 12": {"MPICH 4.0.2": column("14.1", window="works")}})
        self.assertEqual(results["Debian 12"]["MPICH 4.0.2"], column("14.1", window="works"))
        put(results, {"Debian 12": {"MPICH 4.0.3": column("14.1", dap="works")}})
        self.assertEqual(results, {"Debian 12": {"MPICH 4.0.3": column("14.1", dap="works")}})

    def test_a_capability_that_is_none(self):
        script = pathlib.Path(__file__).resolve().with_name("systems.py")
        run = subprocess.run([sys.executable, "-B", script, "--only", "windows"], capture_output=True, text=True, check=False)
        self.assertEqual((run.returncode, run.stdout), (1, ""))
        self.assertIn("no capability is called windows: record, ", run.stderr)


if __name__ == "__main__":
    unittest.main()
