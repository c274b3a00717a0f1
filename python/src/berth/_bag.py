"""Open bags: made by the program, and fed and watched through the socket of the coordinator."""

from __future__ import annotations

import fcntl
import http.client
import json
import os
import socket
import subprocess
import threading
import uuid
from typing import Any, Dict, Iterator, List, Optional, Sequence

from ._program import BerthError, program, run, state_folder

#: The largest number of tasks in one request.
_TOGETHER = 5000


class _Lost(Exception):
    """The coordinator does not run, or ended during a call."""


class _Connection(http.client.HTTPConnection):
    """A connection to the coordinator, which is made anew when it was closed."""

    def __init__(self, timeout: Optional[float]) -> None:
        super().__init__("coordinator", timeout=timeout)
        self.pid = os.getpid()

    def connect(self) -> None:
        folder = os.open(state_folder() / "server", os.O_RDONLY | os.O_DIRECTORY)
        try:
            self.sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
            self.sock.settimeout(self.timeout)
            self.sock.connect(f"/proc/self/fd/{folder}/socket")  # its own path may be longer than an address can be
        finally:
            os.close(folder)

    def ask(self, method: str, path: str, body: Optional[bytes] = None) -> http.client.HTTPResponse:
        """Asks the coordinator. Raises BerthError for a refusal and _Lost if there is no coordinator that answers."""
        try:
            self.request(method, path, body)
            response = self.getresponse()
            if response.status == 200:
                return response
            text = response.read()
        except (OSError, http.client.HTTPException) as e:
            self.close()
            raise _Lost(str(e)) from e
        if response.status == 503:  # it is ending
            raise _Lost("the coordinator ends")
        raise BerthError(_refusal(response.status, text))

    def post(self, path: str, body: bytes) -> None:
        """Asks for something that is done once, however often it is asked for."""
        try:
            self.ask("POST", path, body).read()
        except (OSError, http.client.HTTPException) as e:
            self.close()
            raise _Lost(str(e)) from e


def _refusal(status: int, text: bytes) -> str:
    """Returns what an answer that is an error says."""
    try:
        said = json.loads(text)
        return ": ".join(filter(None, [said.get("where"), said["what"]])) + ("; " + said["do"] if said.get("do") else "")
    except (ValueError, KeyError, TypeError):
        return f"the coordinator answered with status {status}"


class Bag:
    """An open bag."""

    def __init__(self, id: str) -> None:
        self.id, self._pid = id, os.getpid()
        self._watching: Optional[_Connection] = None
        self._stopped = False
        self._asking = threading.Lock()
        self._kept: Optional[_Connection] = None  # for further requests of the process that has made it

    @classmethod
    def open(cls, flags: Sequence[str], command: Sequence[str], dir: Optional[str] = None, env: Optional[Dict[str, str]] = None) -> "Bag":
        """Submits an open bag from a folder, with variables beside those of this process. It is closed when this process ends, however that is."""
        bag = cls(json.loads(run(["bag", "--open", "--json", *flags, "--", *command], cwd=dir, env=env))["id"])
        _feed(bag.id)
        return bag

    def add(self, lines: Sequence[Dict[str, Any]]) -> None:
        """Adds tasks, once each, even if the coordinator dies meanwhile."""
        for i in range(0, len(lines), _TOGETHER):
            self._add(lines[i:i + _TOGETHER], uuid.uuid4().hex)

    def _add(self, lines: Sequence[Dict[str, Any]], key: str) -> None:
        try:
            self._post("tasks", {"key": key, "tasks": list(lines)})
        except _Lost:
            run(["add", self.id, "--tasks", "-", "--once", key], stdin="".join(json.dumps(line) + "\n" for line in lines))

    def _post(self, what: str, body: Any) -> None:
        """Asks for something that is done once. The connection is kept, as to make one takes longer."""
        path, data = f"/v1/jobs/{self.id}/{what}", json.dumps(body).encode()
        with self._asking:
            connection, self._kept = self._kept, None
            if connection is None or connection.pid != os.getpid():  # a process that forked goes on with its own
                connection = _Connection(60)
            kept = connection.sock is not None
            try:
                connection.post(path, data)
            except _Lost:
                if not kept:
                    raise
                connection.post(path, data)  # another coordinator may have followed
            self._kept = connection

    def close(self) -> None:
        """Says that no more tasks come, unless this process was forked from the one whose bag it is, as what is done at exit is done in both."""
        if self._pid != os.getpid():
            return
        try:
            self._post("close", {})
        except _Lost:
            run(["close", self.id])
        with self._asking:
            kept, self._kept = self._kept, None
        if kept is not None:
            kept.close()
        _leave(self.id)

    def cancel(self, tasks: Sequence[str] = ()) -> None:
        """Cancels the bag, or only tasks of it by their names, and waits until they have ended."""
        run(["cancel", self.id, *(f"--task={t}" for t in tasks)])

    def tasks(self) -> List[Dict[str, Any]]:
        """Returns the tasks that the bag has now, as berth status prints them."""
        return list(json.loads(run(["status", self.id, "--json"]))["tasks"])

    def end(self, tasks: Sequence[str]) -> None:
        """Cancels tasks, by their names. Those that run are told to end."""
        try:
            self._post("cancel", {"reason": "cancelled by its user", "tasks": list(tasks)})
        except _Lost:
            self.cancel(tasks)

    def events(self, since: int = 0) -> Iterator[Dict[str, Any]]:
        """Returns what happens to the tasks, as it happens, from an event on until the bag is over or stop is called."""
        while not self._stopped:
            try:
                for event in self._stream(since):
                    since = event["seq"] + 1
                    if event["event"] == "over":
                        _leave(self.id)
                        yield event
                        return
                    yield event
            except _Lost:
                pass
            except BerthError:  # the bag is over and no longer in the coordinator's memory
                _leave(self.id)
                yield from self._read(since)
                return
            if not self._stopped:
                run(["server", "start"])

    def _stream(self, since: int) -> Iterator[Dict[str, Any]]:
        self._watching = connection = _Connection(None)
        try:
            response = connection.ask("GET", f"/v1/jobs/{self.id}/events?from={since}")
            while not self._stopped:
                line = response.readline()
                if not line.endswith(b"\n"):
                    raise _Lost("the coordinator ended")
                yield json.loads(line)
        except (OSError, http.client.HTTPException) as e:
            raise _Lost(str(e)) from e
        finally:
            connection.close()

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
        watching = self._watching.sock if self._watching is not None else None
        if watching is not None:
            try:
                watching.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass  # it is over


#: Locked files of the open bags of this process.
_fed: Dict[str, Any] = {}


def _feed(id: str) -> None:
    """Locks a file of a bag, by which the coordinator of this machine knows that this process lives and may add tasks."""
    folder = state_folder() / "runs" / id
    try:
        lock = open(folder / ".feeder", "w")
        fcntl.lockf(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        lock.write(socket.gethostname())
        lock.flush()
        os.replace(folder / ".feeder", folder / "feeder")  # it is there only while it is locked
    except OSError:  # a file system without locks: the bag is open until it is closed
        return
    _fed[id] = lock


def _leave(id: str) -> None:
    """Lets go of the file of a bag to which this process adds nothing any more."""
    lock = _fed.pop(id, None)
    if lock is not None:
        lock.close()


def fed(id: str) -> bool:
    """Reports whether a process lives that may add tasks to a bag."""
    if id in _fed:  # a process does not see its own locks, and loses them when it closes the file
        return True
    try:
        with open(state_folder() / "runs" / id / "feeder", "r+b") as lock:
            fcntl.lockf(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except FileNotFoundError:
        return False
    except OSError:
        return True
    return False


def status(id: str) -> Dict[str, Any]:
    """Returns what berth progress prints of a job."""
    return dict(json.loads(run(["progress", id, "--json"])))


def unused(command: Sequence[str]) -> List[str]:
    """Returns the open bags with that command which were submitted from this folder and have got no task yet."""
    jobs = json.loads(run(["status", "--json", "--state", "queued,running"]))["jobs"]
    empty = [j["id"] for j in jobs if j.get("open") and j["tasks_total"] == 0]
    return [i for i in empty if _made_by(submitted(i), command)]


def _made_by(job: Dict[str, Any], command: Sequence[str]) -> bool:
    return bool(os.path.realpath(job["dir"]) == os.path.realpath(".") and job["bag"]["command"][:len(command)] == list(command))


def printed(id: str, tasks: Sequence[str], stderr: bool = False) -> str:
    """Returns what tasks have printed."""
    return run(["cat", id, *tasks, *(["--stderr"] if stderr else [])])


def submitted(id: str) -> Dict[str, Any]:
    """Returns a job as it was submitted."""
    try:
        return dict(json.loads((state_folder() / "runs" / id / "job.json").read_text()))
    except FileNotFoundError:
        raise BerthError(f"there is no job {id}; berth status lists the jobs there are") from None


