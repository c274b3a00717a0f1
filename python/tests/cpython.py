"""CPython's own tests of executors, run against berth.Executor: python cpython.py [-v] [CLASS[.TEST]…]. Python must have come with
its package test.

These tests of CPython cannot apply, and are left out:
  test_interpreter_shutdown, test_submit_after_interpreter_shutdown, test_hang_gh83386
      start a program that imports the executor by its name from concurrent.futures, and expect what calls print on its output
  test_free_reference_yielded_future (test_as_completed), FutureTests
      make futures without an executor
  test_cancel_futures, test_first_exception, test_timeout, test_map_timeout
      expect that a call begins or ends within some time; they are repeated below so that they hold on a machine of any speed
  all of ThreadPoolExecutor's and ProcessPoolExecutor's own
      look at their threads, processes and queues; those of chunks and of tracebacks are repeated below
  ExecutorDeadlockTest
      expects that a pool breaks when a call ends its process; here that call alone fails
"""

import concurrent.futures
import contextlib
import fcntl
import functools
import sys
import tempfile
import time
import types
import unittest
from unittest import mock

try:  # from Python 3.11.5 on, a package
    from test.test_concurrent_futures import test_as_completed, test_init, test_shutdown, test_wait
    from test.test_concurrent_futures.executor import ExecutorTest
    from test.test_concurrent_futures.util import BaseTestCase, ExecutorMixin
except ImportError:
    from test import test_concurrent_futures as all_of_them
    from test.test_concurrent_futures import BaseTestCase, ExecutorMixin, ExecutorTest

    test_as_completed = test_init = test_shutdown = test_wait = all_of_them

import berth
from held import held


class Berth(ExecutorMixin):
    executor_type = berth.Executor


class Held(Berth):
    """In the tests of OUTLAST, calls of time.sleep end when the test is over, as other calls shall have ended before them."""

    OUTLAST = ("test_first_completed", "test_first_completed_some_already_completed", "test_first_exception",
               "test_first_exception_some_already_complete", "test_first_exception_one_already_failed", "test_timeout",
               "test_map_timeout", "test_zero_timeout")

    def setUp(self):
        super().setUp()
        self.gate = tempfile.NamedTemporaryFile()
        self.sleep = functools.partial(held, self.gate.name)
        if self._testMethodName in self.OUTLAST:
            fcntl.flock(self.gate, fcntl.LOCK_EX)
            module = sys.modules[type(self).__bases__[1].__module__]  # with the tests of CPython
            patch = mock.patch.object(module, "time", types.SimpleNamespace(sleep=self.sleep, monotonic=time.monotonic))
            patch.start()
            self.addCleanup(patch.stop)

    def tearDown(self):
        fcntl.flock(self.gate, fcntl.LOCK_UN)
        super().tearDown()  # waits for the calls
        self.gate.close()


class BerthExecutorTest(Held, ExecutorTest, BaseTestCase):
    def test_map_timeout(self):
        results = []
        with self.assertRaises(concurrent.futures.TimeoutError):
            for i in self.executor.map(self.sleep, [0, 0, 6], timeout=5):
                results.append(i)
        self.assertIn(results, ([], [None], [None, None]))

    def test_map_chunks(self):
        for n in (1, 5, 6, 50):
            self.assertEqual(list(self.executor.map(pow, range(40), range(40), chunksize=n)), list(map(pow, range(40), range(40))))
        with self.assertRaises(ValueError):
            list(self.executor.map(pow, range(40), range(40), chunksize=-1))

    def test_traceback(self):
        with self.assertRaises(Exception) as cm:
            self.executor.submit(divmod, 1, 0).result()
        cause = cm.exception.__cause__
        self.assertIs(type(cause), berth.run.RemoteTraceback)
        self.assertIn("ZeroDivisionError", cause.text)


class BerthWaitTest(Held, test_wait.WaitTests, BaseTestCase):
    def test_first_exception(self):
        done = self.executor.submit(pow, 2, 5)
        self.assertEqual(done.result(), 32)
        failing, waiting = self.executor.submit(divmod, 1, 0), self.executor.submit(self.sleep, 3)
        finished, pending = concurrent.futures.wait([done, failing, waiting], return_when=concurrent.futures.FIRST_EXCEPTION)
        self.assertEqual((finished, pending), ({done, failing}, {waiting}))

    def test_timeout(self):
        done = self.executor.submit(pow, 2, 5)
        self.assertEqual(done.result(), 32)
        waiting = self.executor.submit(self.sleep, 6)
        finished, pending = concurrent.futures.wait([done, waiting], timeout=0.1)
        self.assertEqual((finished, pending), ({done}, {waiting}))


class BerthAsCompletedTest(Held, test_as_completed.AsCompletedTests, BaseTestCase):
    test_free_reference_yielded_future = None


class BerthShutdownTest(Berth, test_shutdown.ExecutorShutdownTest, BaseTestCase):
    def test_cancel_futures(self):  # CPython's expects that calls begin within microseconds
        futures = [self.executor.submit(pow, 2, 5), *(self.executor.submit(time.sleep, 0.1) for _ in range(50))]
        self.assertEqual(futures[0].result(), 32)
        self.executor.shutdown(cancel_futures=True)
        cancelled = [f for f in futures if f.cancelled()]
        self.assertGreater(len(cancelled), 20)
        for f in futures:
            self.assertTrue(f.done())
            if f not in cancelled:
                self.assertIsNone(f.exception())

    test_interpreter_shutdown = test_submit_after_interpreter_shutdown = test_hang_gh83386 = None


class BerthInitializerTest(Berth, test_init.InitializerMixin, BaseTestCase):
    pass


class BerthFailingInitializerTest(Berth, test_init.FailingInitializerMixin, BaseTestCase):
    @contextlib.contextmanager
    def _assert_logged(self, msg):
        with self.assertLogs("concurrent.futures", "CRITICAL") as cm:
            yield
        self.assertTrue(any(msg in line for line in cm.output), cm.output)


if __name__ == "__main__":
    for module in [m for m in list(sys.modules.values()) if getattr(m, "__name__", "").startswith("test.test_concurrent_futures")]:
        module.setUpModule = None  # they would look for processes that are left of pools
    unittest.main()
