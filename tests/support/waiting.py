# SPDX-License-Identifier: GPL-3.0-or-later
"""Waits for what another thread reads."""
import threading
import time


class Waiting:
    """Who reads notifies `condition`, and sets `closed` at the end."""

    def __init__(self):
        self.condition = threading.Condition()
        self.closed = False

    def told(self):
        """What has come, for a wait that was in vain."""
        raise NotImplementedError

    def wait(self, what, patience):
        """The first value of what() that is true."""
        end = time.monotonic() + patience
        with self.condition:
            while True:
                value = what()
                if value:
                    return value
                left = end - time.monotonic()
                if left <= 0 or self.closed:
                    raise AssertionError(f"did not happen{' before the end' if self.closed else ' in time'}; {self.told()}")
                self.condition.wait(min(left, 0.2))  # what is asked in what() may change without an event
