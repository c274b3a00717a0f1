"""What notebooks show."""

import datetime
import socket
import xml.dom.minidom

import berth
from berth import _show

AT = datetime.datetime(2026, 1, 2, 3, 4, 5, tzinfo=datetime.timezone.utc)


def attempt(name, node, begin, seconds, outcome="done"):
    return {"name": name, "state": "done", "node": node, "started": AT + datetime.timedelta(seconds=begin), "seconds": seconds, "outcome": outcome}


def test_figure():
    """Each attempt is a bar in the lane of its node, two at the same time are in two lanes, and what was of no use is red."""
    rows = _show.Tasks("bag-1", [attempt("a<", "n1", 0, 2.0), attempt("b", "n1", 1, 3.0), attempt("c", "n1", 2, 2.0, "lost"), attempt("d", "n2", 0, 4.0)])
    figure = rows.figure()
    assert {node: len(lanes) for node, lanes in figure.lanes.items()} == {"n1": 2, "n2": 1}
    assert figure._repr_html_() == figure._repr_svg_() and "not done" in figure._repr_svg_()
    bars = [b for b in xml.dom.minidom.parseString(figure._repr_svg_()).getElementsByTagName("rect") if b.getElementsByTagName("title")]
    assert [b.getElementsByTagName("title")[0].firstChild.data for b in bars] == ["a<: 2.00 s, done", "d: 4.00 s, done", "b: 3.00 s, done", "c: 2.00 s, lost"]
    x, width, lost = ([b.getAttribute(k) for b in bars] for k in ("x", "width", "fill"))
    assert x == ["130.0", "130.0", "277.5", "425.0"] and width == ["295.0", "590.0", "442.5", "295.0"] and lost[3] != lost[0] == lost[1]


def test_table_is_cut():
    rows = _show.Tasks("bag-1", [attempt(f"t{i}", "n1", i, 1.0) for i in range(60)])
    assert rows._repr_html_().count("<tr>") == 51 and "and 10 more" in rows._repr_html_()
    assert _show.Tasks("bag-1", []).figure()._repr_svg_().startswith("<svg")


def test_executor(tmp_path):
    """An executor shows its progress, the tasks that made its calls, and a figure of them."""
    with berth.Executor(folder=tmp_path) as executor:
        executor.submit(pow, 2, 3).result()
    assert "1 of 1 calls done" in executor._repr_html_()
    table = executor.tasks()
    assert [(r["name"], r["state"], r["outcome"]) for r in table] == [("pow-1", "done", "done")] and "<td>pow-1</td>" in table._repr_html_()
    assert "pow-1" in table.figure()._repr_svg_() and table[0]["node"] == socket.gethostname()
