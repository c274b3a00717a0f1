"""Functions and workflows on berth."""

from ._executor import CallFailed, Executor, Future, Progress, TooLarge
from ._program import BerthError

__all__ = ["BerthError", "CallFailed", "Executor", "Future", "Progress", "TooLarge"]
