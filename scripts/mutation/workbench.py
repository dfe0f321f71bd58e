"""A copy of the tree that mutants are built and tested in."""
import hashlib
import json
import os
import re
import resource
import shlex
import shutil
import signal
import subprocess
import time

LEFT_OUT = re.compile(r"^(build.*|out|\.git|\.ccache)$")
# A verdict hangs on these.
COUNTS = re.compile(r"^(CMakeLists\.txt|(cmake|configs|include|models|src|tests|docs/rules)/.*)$")
RULE = re.compile(r"\b(?:[A-Z]{3}-\d+(?:\.\d+)?|DHI [DS]\d+(?:\.\d+)?)\b")


class OutOfTime(Exception):
    """The budget has ended."""


class Clock:
    """Runs commands within a budget."""

    def __init__(self, budget):
        self.ends = time.monotonic() + budget if budget is not None else None

    def run(self, command, log, limit=None):
        """The exit code, or None at the limit; all that the command started ends with it."""
        left = None if self.ends is None else self.ends - time.monotonic()
        if left is not None and left <= 0:
            raise OutOfTime
        seconds = min((s for s in (left, limit) if s is not None), default=None)
        with open(log, "wb") as output:
            process = subprocess.Popen(command, stdout=output, stderr=output, stdin=subprocess.DEVNULL,
                                       start_new_session=True, preexec_fn=Clock._prepare_child)
            try:
                return process.wait(seconds)
            except subprocess.TimeoutExpired:
                if seconds == left:
                    raise OutOfTime from None
                return None
            finally:
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

    @staticmethod
    def _prepare_child():
        """No core files, and if memory runs out, the mutant goes first; a limit of addresses would not do, since host
        memory alone takes TiB of them."""
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        try:
            with open("/proc/self/oom_score_adj", "w", encoding="ascii") as file:
                file.write("1000")
        except OSError:
            pass


class Workbench:
    """Tests go from what is quick and near to what is slow: unit tests of the folder, all unit tests, cases that cite a
    rule which the file cites, all cases, other tests of CI with the folder's name as a label, all other tests of CI but
    those of the source tree and of the fuzz corpus."""

    FAILED_TEST = r"^\s*\d+ - (\S+) \("  # in the list at the end of what ctest prints

    def __init__(self, root, work, jobs, clock, options):
        self.root, self.work, self.jobs, self.clock, self.options = root, work, str(jobs), clock, options
        self.tree, self.build = os.path.join(work, "tree"), os.path.join(work, "build")
        self.log = os.path.join(work, "last.log")
        self.originals, self.seconds = {}, {}
        self.rest_fails = []

    # ---- the copy

    def take_over(self):
        """Makes the copy equal to the tree; what is the same keeps its time, so that it is not built again."""
        wanted = set(self._files(self.root))
        for path in self._files(self.tree):
            if path not in wanted:
                os.remove(os.path.join(self.tree, path))
        digest = hashlib.sha256(" ".join(self.options).encode())
        for path in sorted(wanted):
            text = self._read(os.path.join(self.root, path))
            target = os.path.join(self.tree, path)
            if not os.path.exists(target) or self._read(target) != text:
                os.makedirs(os.path.dirname(target), exist_ok=True)
                with open(target, "wb") as file:
                    file.write(text)
                shutil.copymode(os.path.join(self.root, path), target)
            if COUNTS.match(path):
                digest.update(f"{path} {hashlib.sha256(text).hexdigest()}\n".encode())
        return digest.hexdigest()

    @staticmethod
    def _read(path):
        with open(path, "rb") as file:
            return file.read()

    @staticmethod
    def _files(top):
        for folder, folders, files in os.walk(top):
            if folder == top:
                folders[:] = [name for name in folders if not LEFT_OUT.match(name)]
            for name in files:
                yield os.path.relpath(os.path.join(folder, name), top)

    def write(self, path, text):
        with open(os.path.join(self.tree, path), "w", encoding="utf-8", newline="") as file:
            file.write(text)

    # ---- building

    def configure(self):
        """In batches of four sources: one mutant of a .cpp takes half the time that batches of twelve take, and one of a
        header little more; file by file, a header takes half as long again."""
        return self.clock.run(
            ["cmake", "-S", self.tree, "-B", self.build, "-G", "Ninja", "-DCMAKE_BUILD_TYPE=Release",
             "-DCMAKE_CXX_FLAGS_RELEASE=-O1 -DNDEBUG", "-DCMAKE_UNITY_BUILD=ON", "-DCMAKE_UNITY_BUILD_BATCH_SIZE=4",
             "-DCMAKE_EXPORT_COMPILE_COMMANDS=ON", "-DFLITWISE_LTO=OFF", "-DFLITWISE_TESTS=ON", *self.options], self.log) == 0

    def builds(self, target):
        return self.clock.run(["cmake", "--build", self.build, "--target", target, "-j", self.jobs], self.log) == 0

    def compiles(self, path):
        """Asks the compiler alone about one file, since it is quicker than building all that includes it."""
        with open(os.path.join(self.build, "compile_commands.json"), encoding="utf-8") as file:
            commands = [entry["command"] for entry in json.load(file)]
        command = shlex.split(max(commands, key=lambda text: text.count(" -D")))
        command = command[:command.index("-o")]  # CMake ends it with -o OBJECT -c SOURCE
        folders = ["-I" + os.path.join(self.tree, folder) for folder in ("include", "src", "models")]
        return self.clock.run([*command, *folders, "-w", "-fsyntax-only", "-x", "c++", os.path.join(self.tree, path)],
                              self.log) == 0

    def _sum_of(self, program):
        paths = [os.path.join(self.build, program), os.path.join(self.build, "tests", program)]
        return hashlib.sha256(self._read(next(path for path in paths if os.path.exists(path)))).hexdigest()

    def differs(self, program):
        return self._sum_of(program) != self.originals[program]

    # ---- the tree without a mutant

    def measure(self, known):
        """Builds and tests the tree as it is. `known` is what an earlier call returned for the same tree. Returns what to
        keep, or a text that says what failed; tests of the last stage may fail, and do not count then."""
        if not self.configure() or not self.builds("all"):
            return f"the tree does not build; see {self.log}"
        self.originals = {program: self._sum_of(program) for program in ("unit_tests", "flitwise")}
        if known:
            self.seconds, self.rest_fails = known["seconds"], known["rest_fails"]
            return known
        for name, test in (("unit", self._unit), ("cases", self._cases), ("rest", self._rest)):
            begin = time.monotonic()
            failure = test()
            self.rest_fails = self._failed_tests() if failure and name == "rest" else []
            if failure and not self.rest_fails:
                return f"fails without a mutant: {failure}; see {self.log}"
            self.seconds[name] = time.monotonic() - begin
        return {"seconds": self.seconds, "rest_fails": self.rest_fails}

    def _limit(self, name):
        return max(60, 5 * self.seconds[name]) if name in self.seconds else None

    # ---- tests: each tells what noticed, or None

    def judge(self, path, source):
        """The verdict on what is applied, and what noticed it."""
        if not self.compiles(path) or not self.builds("unit_tests"):
            return "unbuilt", ""
        tests = self.differs("unit_tests")
        by = tests and (self._unit(self._suites_near(path)) or self._unit())
        if by:
            return "killed", by
        if not self.builds("flitwise"):
            return "unbuilt", ""
        program = self.differs("flitwise")
        if not tests and not program:
            return "equivalent", ""
        near = program and self._cases_citing(RULE.findall(source))
        by = near and self._cases(near) or program and self._cases()
        if by:
            return "killed", by
        if not self.builds("all"):
            return "unbuilt", ""
        by = self._confirmed_rest((path.split("/") + [""])[1]) or self._confirmed_rest("")
        return ("killed", by) if by else ("survived", "")

    def _run(self, name, command, pattern):
        """Runs tests; pattern finds in their output which failed."""
        code = self.clock.run(command, self.log, self._limit(name))
        if code == 0:
            return None
        if code is None:
            return f"{name}: time limit"
        with open(self.log, encoding="utf-8", errors="replace") as file:
            failed = re.search(pattern, file.read(), re.MULTILINE)
        return f"{name}: {failed.group(1)}" if failed else f"{name}: exit code {code}"

    def _unit(self, suites=()):
        program = os.path.join(self.build, "tests", "unit_tests")
        chosen = [f"--gtest_filter={':'.join(suite + '.*' for suite in suites)}"] if suites else []
        return self._run("unit", [program, "--gtest_fail_fast", "--gtest_brief=1", *chosen], r"^\[  FAILED  \] ([\w/.]+)")

    def _cases(self, files=()):
        program = os.path.join(self.build, "flitwise")
        return self._run("cases", [program, "conform", "-j", self.jobs, *(files or [os.path.join(self.tree, "tests/cases")])],
                         r"^FAIL  (\S+(?: \S+)*)")

    def _rest(self, only=(), label=""):
        labels = ["-L", f"^{label}$"] if label else []
        chosen = ["-R", self._one_of(only)] if only else ["-E", self._one_of(self.rest_fails)] if self.rest_fails else []
        return self._run("rest", ["ctest", "--test-dir", self.build, "-L", "^ci$", "-LE", "^(unit|cases|checks|fuzz)$",
                                  "-j", self.jobs, *labels, *chosen], self.FAILED_TEST)

    def _confirmed_rest(self, label):
        """What failed runs again and alone, since a busy machine fails a test as well."""
        by = self._rest(label=label)
        failed = self._failed_tests() if by else []
        return self._rest(failed) if failed else by

    @staticmethod
    def _one_of(names):
        return f"^({'|'.join(map(re.escape, names))})$"

    def _failed_tests(self):
        with open(self.log, encoding="utf-8", errors="replace") as file:
            return re.findall(self.FAILED_TEST, file.read(), re.MULTILINE)

    def _suites_near(self, path):
        """Test suites in the folder of tests/unit that is named as the file's."""
        parts = path.split("/")
        folder = os.path.join(self.tree, "tests/unit", parts[1] if len(parts) > 2 else "")
        suites = set()
        for name in sorted(os.listdir(folder)) if len(parts) > 2 and os.path.isdir(folder) else []:
            if name.endswith("_test.cpp"):
                suites.update(re.findall(rb"^TEST(?:_F)?\((\w+),", self._read(os.path.join(folder, name)), re.MULTILINE))
        return sorted(suite.decode() for suite in suites)

    def _cases_citing(self, rules):
        wanted, files = set(rules), []
        for path in sorted(self._files(os.path.join(self.tree, "tests/cases"))):
            path = os.path.join(self.tree, "tests/cases", path)
            cited = re.search(rb"^cites: *\[(.*)\]", self._read(path), re.MULTILINE) if path.endswith(".yaml") else None
            if cited and wanted & {rule.strip() for rule in cited.group(1).decode().split(",")}:
                files.append(path)
        return files
