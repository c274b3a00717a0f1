"""A notebook that is run as Jupyter runs it."""

import xml.dom.minidom

import pytest

CELLS = [
    "import berth, concurrent.futures, os, time\n"
    "def wait(x):\n    while not os.path.exists('gate'): time.sleep(0.05)\n    return x\n"
    "executor = berth.Executor(keep=True)\nfutures = [executor.submit(wait, x) for x in range(3)]\nexecutor",
    "open('gate', 'w').close()\nconcurrent.futures.wait(futures)\nexecutor.shutdown()\n"
    "while any(t.name.endswith('follow)') for t in __import__('threading').enumerate()): time.sleep(0.05)",
    "executor.tasks()",
    "executor.tasks().figure()",
    "futures[2].result()",
]


def test_notebook(tmp_path):
    """A bar goes on while its cell is over, a table and a figure show themselves, and functions of the notebook can be called."""
    nbformat, nbclient = pytest.importorskip("nbformat"), pytest.importorskip("nbclient")
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(c) for c in CELLS])
    nbclient.NotebookClient(notebook, timeout=600, kernel_name="python3", resources={"metadata": {"path": str(tmp_path)}}).execute()
    shown = [[o["data"] for o in c["outputs"] if "data" in o] for c in notebook.cells]
    assert "3 of 3 calls done" in shown[0][0]["text/html"] and "3 done" in shown[0][0]["text/plain"]
    assert "wait-1" in shown[2][0]["text/html"] and "[{'name': 'wait-1'" in shown[2][0]["text/plain"]
    figure = xml.dom.minidom.parseString(shown[3][0]["text/html"])
    assert "wait-1" in shown[3][0]["image/svg+xml"] and len(figure.getElementsByTagName("title")) >= 1
    assert shown[4][0]["text/plain"] == "2"
