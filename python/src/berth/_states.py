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
        self.closed = False
        self.over: Optional[Dict[str, Any]] = None
        self.error: Optional[BaseException] = None
        threading.Thread(target=self._watch, name=f"{bag.id}-states", daemon=True).start()

    def _watch(self) -> None:
        try:
            for event in self.bag.events():
                with self.changed:
                    if event["event"] == "over":
                        self.over = event
                    elif event["event"] == "closed":
                        self.closed = True
                    elif "name" in event and not self.tasks.get(event["name"], {}).get("final"):
                        self.tasks[event["name"]] = event
                    self.changed.notify_all()
        except BaseException as e:
            with self.changed:
                self.error = e
                self.changed.notify_all()

    def wait_for(self, holds: Callable[[], bool], timeout: Optional[float] = None) -> bool:
        """Waits until something holds, and reports whether it does."""
        with self.changed:
            return self.changed.wait_for(lambda: self.error is not None or self.over is not None or holds(), timeout) and holds()
