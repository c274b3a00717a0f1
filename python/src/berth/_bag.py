"""Open bags: made by the program, and fed and watched through the socket of the coordinator."""

from __future__ import annotations

import http.client
import json
import os
import socket
import subprocess
import uuid
from typing import Any, Dict, Iterator, Optional, Sequence

from ._program import BerthError, program, run, state_folder

#: The largest number of tasks in one request.
_TOGETHER = 5000


class _Connection(http.client.HTTPConnection):
    """A connection to the coordinator. A path may be longer than the address of a socket, so the folder is opened first."""

    def __init__(self, timeout: Optional[float]) -> None:
        super().__init__("coordinator", timeout=timeout)

    def connect(self) -> None:
        folder = os.open(state_folder() / "server", os.O_RDONLY | os.O_DIRECTORY)
        try:
            self.sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
            self.sock.settimeout(self.timeout)
            self.sock.connect(f"/proc/self/fd/{folder}/socket")
        except OSError:
            self.sock.close()
            raise
        finally:
            os.close(folder)


class _Lost(Exception):
    """The coordinator does not run, or ended during a call."""


def _call(method: str, path: str, body: Any = None, timeout: Optional[float] = 60) -> http.client.HTTPResponse:
    """Asks the coordinator. Raises BerthError for a refusal and _Lost if there is no coordinator that answers."""
    try:
        connection = _Connection(timeout)
        connection.request(method, path, body=None if body is None else json.dumps(body), headers={"Connection": "close"})
        response = connection.getresponse()
        if response.status == 200:
            return response
        text = response.read()
    except (OSError, http.client.HTTPException) as e:
        raise _Lost(str(e)) from e
    if response.status == 503:  # it is ending
        raise _Lost("the coordinator ends")
    try:
        said = json.loads(text)
        raise BerthError(": ".join(filter(None, [said.get("where"), said["what"]])) + ("; " + said["do"] if said.get("do") else ""))
    except (ValueError, KeyError, TypeError):
        raise BerthError(f"the coordinator answered with status {response.status}") from None


class Bag:
    """An open bag."""

    def __init__(self, id: str) -> None:
        self.id = id
        self._watching: Optional[http.client.HTTPResponse] = None
        self._stopped = False

    @classmethod
    def open(cls, flags: Sequence[str], command: Sequence[str], dir: Optional[str] = None) -> "Bag":
        """Submits an open bag from a folder."""
        return cls(json.loads(run(["bag", "--open", "--json", *flags, "--", *command], cwd=dir))["id"])

    def add(self, lines: Sequence[Dict[str, Any]]) -> None:
        """Adds tasks, once each, even if the coordinator dies meanwhile."""
        for i in range(0, len(lines), _TOGETHER):
            self._add(lines[i:i + _TOGETHER], uuid.uuid4().hex)

    def _add(self, lines: Sequence[Dict[str, Any]], key: str) -> None:
        try:
            _call("POST", f"/v1/jobs/{self.id}/tasks", {"key": key, "tasks": list(lines)}).read()
        except _Lost:
            run(["add", self.id, "--tasks", "-", "--once", key], stdin="".join(json.dumps(line) + "\n" for line in lines))

    def close(self) -> None:
        """Says that no more tasks come."""
        try:
            _call("POST", f"/v1/jobs/{self.id}/close", {}).read()
        except _Lost:
            run(["close", self.id])

    def cancel(self) -> None:
        """Cancels the bag with all of its tasks."""
        run(["cancel", self.id])

    def events(self, since: int = 0) -> Iterator[Dict[str, Any]]:
        """Returns what happens to the tasks, as it happens, from an event on until the bag is over or stop is called."""
        while not self._stopped:
            try:
                for event in self._stream(since):
                    since = event["seq"] + 1
                    yield event
                    if event["event"] == "over":
                        return
            except _Lost:
                pass
            except BerthError:  # the bag is over and no longer in the coordinator's memory
                yield from self._read(since)
                return
            if not self._stopped:
                run(["server", "start"])

    def _stream(self, since: int) -> Iterator[Dict[str, Any]]:
        with _call("GET", f"/v1/jobs/{self.id}/events?from={since}", timeout=None) as self._watching:
            while not self._stopped:
                try:
                    line = self._watching.readline()
                except (OSError, http.client.HTTPException, ValueError, AttributeError) as e:  # the last two: stop closed it
                    raise _Lost(str(e)) from e
                if not line.endswith(b"\n"):
                    raise _Lost("the coordinator ended")
                yield json.loads(line)

    def _read(self, since: int) -> Iterator[Dict[str, Any]]:
        """Returns the events of a bag from its files."""
        with subprocess.Popen([program(), "watch", self.id, "--json", "--from", str(since)], stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, stdin=subprocess.DEVNULL) as watch:
            assert watch.stdout and watch.stderr
            for line in watch.stdout:
                yield json.loads(line)
            said = watch.stderr.read().decode(errors="replace").strip()
        if watch.returncode != 0:
            raise BerthError(said or f"berth watch ended with status {watch.returncode}")

    def stop(self) -> None:
        """Ends events."""
        self._stopped = True
        stream = getattr(getattr(self._watching, "fp", None), "raw", None)
        if stream is not None:
            try:
                stream._sock.shutdown(socket.SHUT_RDWR)
            except (OSError, AttributeError):
                pass


def status(id: str) -> Dict[str, Any]:
    """Returns what berth progress prints of a job."""
    return dict(json.loads(run(["progress", id, "--json"])))


def printed(id: str, tasks: Sequence[str], stderr: bool = False) -> str:
    """Returns what tasks have printed."""
    return run(["cat", id, *tasks, *(["--stderr"] if stderr else [])])


def submitted(id: str) -> Dict[str, Any]:
    """Returns a job as it was submitted."""
    try:
        return dict(json.loads((state_folder() / "runs" / id / "job.json").read_text()))
    except FileNotFoundError:
        raise BerthError(f"there is no job {id}; berth status lists the jobs there are") from None


