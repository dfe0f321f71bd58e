"""Commands within a budget, some at a time."""
import concurrent.futures
import os
import signal
import subprocess
import threading
import time

# No core files, and if memory runs out, the mutant goes first; a limit of addresses would not do, since host memory alone
# takes TiB of them.
AS_A_CHILD = ["sh", "-c", 'ulimit -c 0; echo 1000 2>/dev/null >/proc/self/oom_score_adj; exec "$@"', "sh"]


class OutOfTime(Exception):
    """The budget has ended."""


class Clock:
    def __init__(self, budget):
        self.ends = time.monotonic() + budget if budget is not None else None
        self._lock, self._running = threading.Lock(), set()

    def run(self, command, log, limit=None, environment=None, folder=None):
        """The exit code, or None at the limit; all that the command started ends with it."""
        with self._lock:
            left = None if self.ends is None else self.ends - time.monotonic()
            if left is not None and left <= 0:
                raise OutOfTime
            seconds = min((s for s in (left, limit) if s is not None), default=None)
            with open(log, "wb") as output:
                process = subprocess.Popen([*AS_A_CHILD, *command], stdout=output, stderr=output, stdin=subprocess.DEVNULL,
                                           env={**os.environ, **(environment or {})}, cwd=folder, start_new_session=True)
            self._running.add(process)
        try:
            code = process.wait(seconds)
            if self.ends is not None and time.monotonic() >= self.ends:  # it may have been ended
                raise OutOfTime
            return code
        except subprocess.TimeoutExpired:
            if seconds == left:
                raise OutOfTime from None
            return None
        finally:
            self._running.discard(process)
            if process.poll() is None:
                Clock._end(process)

    @staticmethod
    def _end(process):
        """SIGTERM first: ninja then removes what was half written."""
        os.killpg(process.pid, signal.SIGTERM)
        try:
            process.wait(10)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()

    def spread(self, jobs, function, items):
        """Pairs of an item and what the function returns for it, in their order; some at a time."""
        items = list(items)
        with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
            try:
                yield from zip(items, pool.map(function, items))
            except BaseException:
                self._stop()
                raise

    def _stop(self):
        """Threads cannot be interrupted, but what they wait for can."""
        with self._lock:
            self.ends = time.monotonic()
            for process in self._running:
                if process.poll() is None:
                    os.killpg(process.pid, signal.SIGTERM)
