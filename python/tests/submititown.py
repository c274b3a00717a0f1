"""submitit's own tests, run against berth's plugin: python submititown.py [FLAG OF PYTEST]… They are in submitit's package.

Those that take submitit's executor for this machine take berth's instead. Others of them know of no executor or of Slurm's alone.
"""

import sys

import pytest
import submitit
from submitit import conftest
from submitit.local import local

from berth.submitit import BerthExecutor


class LocalExecutor(BerthExecutor):
    """Is taken for submitit's executor of that name."""

    @classmethod
    def name(cls):
        return "local"


_THREE = "a job has three processes on a node, which must have as many cores; test_libraries.py has one of two"
_AT_ONCE = "expects that a job runs when submit returns; with berth it waits first"
_SECONDS = "expects that Python starts within a second; test_libraries.py has a job with a checkpoint that needs no time limit"
_PLUGINS = "expects that no plugin is installed but those of the test"

#: Tests that cannot apply, and why.
APART = {
    "test_local_job": _THREE, "test_get_first_task_error": _THREE,
    "test_killed": _AT_ONCE, "test_cancel": _AT_ONCE,
    "test_requeuing": _SECONDS, "test_custom_checkpoint": _SECONDS, "test_as_completed": _SECONDS,
    "test_find_good_plugin": _PLUGINS, "test_skip_bad_plugin": _PLUGINS,
}


class Apart:
    def pytest_collection_modifyitems(self, items):
        for item in items:
            if item.originalname in APART:
                item.add_marker(pytest.mark.skip(APART[item.originalname]))


if __name__ == "__main__":
    local.LocalExecutor = conftest.LocalExecutor = LocalExecutor
    modules = ["local.test_local", "test_helpers", "test_pickle", "core.test_plugins", "auto.test_auto"]
    sys.exit(pytest.main(["-q", "-p", "no:cacheprovider", *sys.argv[1:], "--pyargs", *(f"submitit.{m}" for m in modules)], [Apart()]))
