"""What a notebook shows: a bar of progress, a table of the tasks of a bag, and a figure of which node ran what when."""

from __future__ import annotations

import datetime
import json
import threading
import time
import weakref
from html import escape
from typing import Any, Dict, List, Tuple

from ._bag import status
from ._program import run

_COLUMNS = ("name", "state", "node", "started", "seconds", "outcome")
_ROWS = 50  # rows that a table shows
_WIDTH, _LANE, _LEFT = 720, 14, 130  # of figures, in pixels
_COLOURS = {"done": "#4c78a8", "": "#72b7b2"}  # of attempts that are done and that run; others have not been of use
_LOST = "#e45756"


_EVERY = 0.5  # seconds between two looks at what a bar shows


def bar(executor: Any) -> None:
    """Shows the progress of an executor as the result of a cell, and keeps it up to date until the executor takes no more calls."""
    from IPython import get_ipython
    from IPython.display import display

    def shown(e: Any) -> Dict[str, str]:
        return {"text/plain": repr(e), "text/html": e._repr_html_()}

    def follow(of: "weakref.ref[Any]", last: Dict[str, str]) -> None:
        while True:
            time.sleep(_EVERY)
            e = of()
            if e is None:
                return
            ended, now = e._engine.over, shown(e)
            if now != last:
                handle.update(now, raw=True)
            if ended:
                return
            last = now
            del e

    first = shown(executor)
    handle = display(first, raw=True, display_id=True)
    if handle is not None and hasattr(get_ipython(), "kernel"):  # others print what is new
        threading.Thread(target=follow, args=(weakref.ref(executor), first), daemon=True).start()


def tasks(id: str) -> "Tasks":
    """Returns the attempts of the tasks of a job."""
    rows, hosts = [], {n["node"]: n["host"] for n in status(id)["nodes"]}
    for task in json.loads(run(["status", id, "--json"]))["tasks"]:
        for a in task["tries"] or [{}]:
            started = _time(a["started"]) if "started" in a else None
            rows.append({"name": task["name"], "state": task["state"], "node": hosts.get(a.get("node")) or a.get("node", ""), "started": started,
                         "seconds": a.get("seconds"), "outcome": a.get("outcome", "")})
    return Tasks(id, rows)


def _time(text: str) -> datetime.datetime:
    """Reads a time of berth, whose fractions may have more digits than Python takes."""
    seconds, _, fraction = text.rstrip("Z").partition(".")
    return datetime.datetime.strptime(f"{seconds}.{(fraction or '0')[:6]}", "%Y-%m-%dT%H:%M:%S.%f").replace(tzinfo=datetime.timezone.utc)


class Tasks(List[Dict[str, Any]]):
    """Attempts of tasks, as a list of dictionaries that a notebook shows as a table."""

    def __init__(self, id: str, rows: List[Dict[str, Any]]) -> None:
        super().__init__(rows)
        self.id = id

    def _repr_html_(self) -> str:
        lines = ["<tr>" + "".join(f"<th>{c}</th>" for c in _COLUMNS) + "</tr>"]
        for row in self[:_ROWS]:
            lines.append("<tr>" + "".join(f"<td>{escape(_cell(row[c]))}</td>" for c in _COLUMNS) + "</tr>")
        rest = f"<p>and {len(self) - _ROWS} more</p>" if len(self) > _ROWS else ""
        return f"<table><caption>{escape(self.id)}</caption>{''.join(lines)}</table>{rest}"

    def figure(self) -> "Figure":
        """Returns a figure of which node ran which task when."""
        return Figure(self)


def _cell(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, datetime.datetime):
        return value.astimezone().strftime("%H:%M:%S")
    return f"{value:.2f}" if isinstance(value, float) else str(value)


class Figure:
    """A figure of attempts over time, with lanes for those that run at the same time on a node."""

    def __init__(self, rows: Tasks) -> None:
        ran = sorted((r for r in rows if r["started"] is not None), key=lambda r: r["started"])
        self.bars: List[Tuple[str, int, float, float, Dict[str, Any]]] = []  # node, lane, begin and end in seconds, and the attempt
        self.lanes: Dict[str, List[float]] = {}  # ends of the last attempts, by node
        now = datetime.datetime.now(datetime.timezone.utc)
        for r in ran:
            begin = (r["started"] - ran[0]["started"]).total_seconds()
            end = begin + r["seconds"] if r["seconds"] is not None else max(begin, (now - ran[0]["started"]).total_seconds())
            lanes = self.lanes.setdefault(r["node"], [])
            lane = next((i for i, busy in enumerate(lanes) if busy <= begin), len(lanes))
            lanes[lane:lane + 1] = [end]
            self.bars.append((r["node"], lane, begin, end, r))

    def _repr_html_(self) -> str:
        return self._repr_svg_()  # as a part of the page it has the page's colour of text, and shows what a bar is under the pointer

    def _repr_svg_(self) -> str:
        last = max((end for *_, end, _ in self.bars), default=0.0) or 1.0
        top, parts = {}, []
        y = 0
        for node in sorted(self.lanes):
            top[node] = y
            parts.append(_text(0, y + _LANE - 3, escape(node)))
            y += len(self.lanes[node]) * _LANE + 4
        scale = (_WIDTH - _LEFT) / last
        for node, lane, begin, end, r in self.bars:
            tip = f"{r['name']}: {end - begin:.2f} s, {r['outcome'] or 'running'}"
            parts.append(f'<rect x="{_LEFT + begin * scale:.1f}" y="{top[node] + lane * _LANE}" width="{max(1.0, (end - begin) * scale):.1f}" '
                         f'height="{_LANE - 2}" fill="{_colour(r)}"><title>{escape(tip)}</title></rect>')
        parts += [_text(_LEFT, y + 12, "0 s"), _text(_WIDTH, y + 12, f"{last:.1f} s", "end"), *self._legend(y + 12)]
        return f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {y + 18}" width="{_WIDTH}" style="max-width:100%" ' \
               f'font-family="sans-serif" font-size="11" fill="currentColor">{"".join(parts)}</svg>'

    def _legend(self, y: int) -> List[str]:
        """Says what colours are, if there is another one than that of attempts that are done."""
        words = {_colour(r): "done" if r["outcome"] == "done" else "not done" if r["outcome"] else "running" for *_, r in self.bars}
        if set(words.values()) <= {"done"}:
            return []
        parts, x = [], _LEFT + 60
        for colour, word in sorted(words.items(), key=lambda w: w[1]):
            parts += [f'<rect x="{x}" y="{y - 9}" width="10" height="10" fill="{colour}"/>', _text(x + 14, y, word)]
            x += 80
        return parts


def _colour(attempt: Dict[str, Any]) -> str:
    return _COLOURS.get(attempt["outcome"], _LOST)


def _text(x: int, y: int, text: str, anchor: str = "start") -> str:
    return f'<text x="{x}" y="{y}" text-anchor="{anchor}">{text}</text>'
