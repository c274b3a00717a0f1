"""What becomes of the tasks of bags, for engines that ask for it."""

from __future__ import annotations

import threading
from typing import Any, Callable, Dict, Optional

from ._bag import Bag


class States:
    """The last event of each task of a bag by its name, kept up to date by a thread."""

    def __init__(self, bag: Bag) -> None:
        self.bag = bag
        self.changed = threading.Condition()
        self.tasks: Dict[str, Dict[str, Any]] = {}
        self.over: Optional[Dict[str, Any]] = None
        self.error: Optional[BaseException] = None
        threading.Thread(target=self._watch, name=f"{bag.id}-states", daemon=True).start()

    def _watch(self) -> None:
        try:
            for event in self.bag.events():
                with self.changed:
                    if event["event"] == "over":
                        self.over = event
                    elif "name" in event and not self.tasks.get(event["name"], {}).get("final"):
                        self.tasks[event["name"]] = event
                    self.changed.notify_all()
        except BaseException as e:
            with self.changed:
                self.error = e
                self.changed.notify_all()

    def catch_up(self) -> None:
        """Waits until it knows the tasks that the bag has now, and how those of them ended that are over."""
        left = self.bag.tasks()

        def known() -> bool:
            while left and left[-1]["name"] in self.tasks and (self.tasks[left[-1]["name"]].get("final") or left[-1]["state"] in ("waiting", "running")):
                left.pop()
            return not left

        self.wait_for(known)

    def wait_for(self, holds: Callable[[], bool], timeout: Optional[float] = None) -> bool:
        """Waits until something holds, and reports whether it does."""
        with self.changed:
            return self.changed.wait_for(lambda: self.error is not None or self.over is not None or holds(), timeout) and holds()
