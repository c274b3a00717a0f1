"""A call that ends when its test says so."""

import fcntl


def held(path: str, seconds: float) -> None:
    """Takes the place of time.sleep: waits until the test no longer holds its lock on the file, unless it was to sleep no time."""
    if seconds > 0:
        with open(path) as gate:
            fcntl.flock(gate, fcntl.LOCK_SH)
