"""CPython's own tests of executors, run against berth.Executor: python cpython.py [-v] [CLASS[.TEST]…]. Python must have come with
its package test.

These tests of CPython cannot apply, and are left out:
  test_interpreter_shutdown, test_submit_after_interpreter_shutdown, test_hang_gh83386
      start a program that imports the executor by its name from concurrent.futures, and expect what calls print on its output
  test_free_reference_yielded_future (test_as_completed), FutureTests
      make futures without an executor
  test_cancel_futures expects that a call begins within microseconds; it is repeated below with a call that has ended
  all of ThreadPoolExecutor's and ProcessPoolExecutor's own
      look at their threads, processes and queues; those of chunks and of tracebacks are repeated below
  ExecutorDeadlockTest
      expects that a pool breaks when a call ends its process; here that call alone fails
"""

import contextlib
import sys
import time
import unittest

try:  # from Python 3.11.5 on, a package
    from test.test_concurrent_futures import test_as_completed, test_init, test_shutdown, test_wait
    from test.test_concurrent_futures.executor import ExecutorTest
    from test.test_concurrent_futures.util import BaseTestCase, ExecutorMixin
except ImportError:
    from test import test_concurrent_futures as all_of_them
    from test.test_concurrent_futures import BaseTestCase, ExecutorMixin, ExecutorTest

    test_as_completed = test_init = test_shutdown = test_wait = all_of_them

import berth


class Berth(ExecutorMixin):
    executor_type = berth.Executor


class BerthExecutorTest(Berth, ExecutorTest, BaseTestCase):
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


class BerthWaitTest(Berth, test_wait.WaitTests, BaseTestCase):
    pass


class BerthAsCompletedTest(Berth, test_as_completed.AsCompletedTests, BaseTestCase):
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
