"""What a notebook shows of the tasks of a bag: a table, and a figure of which node ran what when."""

from __future__ import annotations

import datetime
import json
from html import escape
from typing import Any, Dict, List, Tuple

from ._program import run

_COLUMNS = ("name", "state", "node", "started", "seconds", "outcome")
_ROWS = 50  # rows that a table shows
_WIDTH, _LANE, _LEFT = 720, 14, 130  # of figures, in pixels
_COLOURS = {"done": "#4c78a8", "": "#72b7b2"}  # of attempts that are done and that run; others have not been of use
_LOST = "#e45756"


def tasks(id: str) -> "Tasks":
    """Returns the attempts of the tasks of a job."""
    rows = []
    for task in json.loads(run(["status", id, "--json"]))["tasks"]:
        for a in task["tries"] or [{}]:
            started = _time(a["started"]) if "started" in a else None
            rows.append({"name": task["name"], "state": task["state"], "node": a.get("host") or a.get("node", ""), "started": started,
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

    def _repr_svg_(self) -> str:
        last = max((end for *_, end, _ in self.bars), default=0.0) or 1.0
        top, parts = {}, []
        y = 0
        for node in sorted(self.lanes):
            top[node] = y
            parts.append(f'<text x="0" y="{y + _LANE - 3}">{escape(node)}</text>')
            y += len(self.lanes[node]) * _LANE + 4
        scale = (_WIDTH - _LEFT) / last
        for node, lane, begin, end, r in self.bars:
            tip = f"{r['name']}: {end - begin:.2f} s, {r['outcome'] or 'running'}"
            parts.append(f'<rect x="{_LEFT + begin * scale:.1f}" y="{top[node] + lane * _LANE}" width="{max(1.0, (end - begin) * scale):.1f}" '
                         f'height="{_LANE - 2}" fill="{_COLOURS.get(r["outcome"], _LOST)}"><title>{escape(tip)}</title></rect>')
        parts.append(f'<text x="{_LEFT}" y="{y + 12}">0 s</text><text x="{_WIDTH}" y="{y + 12}" text-anchor="end">{last:.1f} s</text>')
        return f'<svg xmlns="http://www.w3.org/2000/svg" width="{_WIDTH}" height="{y + 18}" font-family="sans-serif" font-size="11">' \
               f'{"".join(parts)}</svg>'
