"""Many mutants in one build, each behind a switch (switch.h), and the tests that reach each."""
import itertools
import json
import os
import re
import tempfile
import threading
import time

from operators import guard_all
from workbench import OTHER_TESTS, RULE, Failure, Workbench, read

SWITCH = os.path.join(os.path.dirname(os.path.abspath(__file__)), "switch.h")
AT_ONCE = 50  # unit tests or files of cases that run before one asks whether something failed


class Test:
    """A test of the group unit, cases or rest, and what it did without a mutant."""

    def __init__(self, group, name, command=(), labels=(), fine=(0,), **how):
        self.group, self.name, self.command, self.labels = group, name, list(command), labels
        self.fine, self.how = fine, how
        self.seconds, self.failure, self.reaches = 0, None, []

    def row(self):
        return {"group": self.group, "name": self.name, "seconds": self.seconds, "failure": self.failure,
                "reaches": self.reaches}

    def take(self, row):
        self.seconds, self.failure, self.reaches = row["seconds"], row["failure"], row["reaches"]


class Together(Workbench):
    """Tests go from what is quick and near to what is slow, as they do for a mutant alone."""

    def __init__(self, root, work, jobs, clock, options):
        super().__init__(root, work, jobs, clock, options, f' -w -Wno-narrowing -include "{SWITCH}"')
        self.numbers, self.left_out, self.lines, self.tests, self.rows = {}, [], {}, [], []
        self.stage, self.measured = "", os.path.join(work, "measured.jsonl")
        self._lock, self._can_check = threading.Lock(), False

    def check(self, mutant, source):
        """How the mutant can be built: guarded, alone, or not at all (unbuilt). Most operators make what compiles; if it
        does not, only the build of a header costs more than to ask."""
        if mutant.operator not in ("drop", "swap") and mutant.path.endswith(".cpp"):
            return "guarded"
        with self._lock:
            if not self._can_check:
                self.take_over()
                self.configure()
                self._can_check = True
        with tempfile.TemporaryDirectory(dir=self.work) as folder:
            path, log = os.path.join(folder, os.path.basename(mutant.path)), os.path.join(folder, "log")
            for form, text in (("guarded", guard_all(source, [(1, mutant)])[0]), ("alone", mutant.apply(source))):
                with open(path, "w", encoding="utf-8", newline="") as file:
                    file.write(text)
                if self.compiles(path, log):
                    return form
        return "unbuilt"

    # ---- the one build

    def choose(self, wanted, drawn, texts, state):
        """Those to build together. What was measured of the same tree stays, and which of those that are drawn were in it."""
        self.drawn, self.texts, self.state = drawn, texts, state
        self.rows = self._take_kept(wanted, {mutant.id for mutant in drawn})
        if self.rows is None:
            self.rows = []
            self._number(wanted)

    def prepare(self, stage):
        """Builds what the tests of a stage need, and runs each of them without a mutant."""
        for target in ("unit_tests", "flitwise") if stage == "quick" else ("all",):
            while not self._builds_with_mutants(target):
                if not self._leave_out_what_fails():
                    raise Failure(f"the tree does not build; see {self.log}")
        self.stage = stage
        self.tests = list(self._quick_tests() if stage == "quick" else self._other_tests())
        with open(self.measured, "w", encoding="utf-8") as file:
            for row in ({"state": self.state, "numbers": self.numbers, "left_out": self.left_out}, *self.rows):
                file.write(json.dumps(row) + "\n")
        self._measure({(row["group"], row["name"]): row for row in self.rows})

    def _take_kept(self, wanted, drawn):
        """What was measured, or None if it was another tree, or without some of these mutants."""
        try:
            with open(self.measured, encoding="utf-8") as file:
                head, *rows = [json.loads(line) for line in file if line.endswith("\n")]
        except (OSError, ValueError):
            return None
        known = {*head["numbers"], *head["left_out"]}
        if head["state"] != self.state or not {mutant.id for mutant in wanted} <= known <= drawn:
            return None
        self.numbers, self.left_out = head["numbers"], head["left_out"]
        return rows

    def _number(self, wanted):
        taken = []
        for mutant in wanted:
            if any(mutant.overlaps(other) for other in taken):
                self.left_out.append(mutant.id)
            else:
                taken.append(mutant)
                self.numbers[mutant.id] = len(taken)

    def _builds_with_mutants(self, target):
        mutants = {}
        for mutant in self.drawn:
            if mutant.id in self.numbers:
                mutants.setdefault(mutant.path, []).append((self.numbers[mutant.id], mutant))
        changed = {}
        for path, numbered in mutants.items():
            changed[path], lines = guard_all(self.texts[path], numbered)
            self.lines[path] = {mutant.id: lines[number] for number, mutant in numbered}
        self.take_over(changed)
        return self.configure() and self.builds(target, "--", "-k", "0")

    def _leave_out_what_fails(self):
        """What the compiler checks no sooner than in a template, or in a constant of another file."""
        failed, log = set(), read(self.log).decode(errors="replace")
        for path, line in re.findall(rf"^.*?{re.escape(self.tree)}/(\S+?):(\d+)[:,]", log, re.MULTILINE):
            failed.update(id for id, lines in self.lines.get(path, {}).items() if int(line) in lines and id in self.numbers)
        for id in failed:
            del self.numbers[id]
        self.left_out += sorted(failed)
        return failed

    # ---- the tests without a mutant

    def _quick_tests(self):
        yield from (Test("unit", name) for name in self._unit_tests())
        yield from (Test("cases", os.path.relpath(path, self.tree)) for path in self.case_files())

    def _other_tests(self):
        self._runs_quietly(["ctest", "--test-dir", self.build, *OTHER_TESTS, "--show-only=json-v1"])
        text = read(self.log).decode(errors="replace")
        for entry in json.loads(text[text.index("{"):])["tests"]:
            properties = {one["name"]: one["value"] for one in entry["properties"]}
            yield Test("rest", entry["name"], entry["command"], properties.get("LABELS", []),
                       (0, properties.get("SKIP_RETURN_CODE", 0)), folder=properties.get("WORKING_DIRECTORY", self.build),
                       environment=dict(pair.split("=", 1) for pair in properties.get("ENVIRONMENT", [])))

    def _unit_tests(self):
        self._runs_quietly([self.program("unit_tests"), "--gtest_list_tests"])
        suite = ""
        for line in read(self.log).decode().splitlines():
            name = line.split("#")[0].strip()
            if not line.startswith(" "):
                suite = name
            elif not f"{suite}{name}".count("DISABLED_"):
                yield suite + name

    def _runs_quietly(self, command):
        if self.clock.run(command, self.log) != 0:
            raise Failure(f"the tests cannot be listed; see {self.log}")

    def _measure(self, rows):
        for test in self.tests:
            test.take(rows.get((test.group, test.name), test.row()))
        new = [test for test in self.tests if (test.group, test.name) not in rows]
        for test, _ in self.clock.spread(self.jobs, self._measure_one, new):
            if test.failure and test.group != "rest":
                raise Failure(f"fails without a mutant: {test.failure}")
            self.rows.append(test.row())
            with open(self.measured, "a", encoding="utf-8") as file:
                file.write(json.dumps(test.row()) + "\n")

    def _measure_one(self, test):
        begin = time.monotonic()
        test.failure = self._failure_of([test], 600)
        if test.failure:  # a busy machine fails a test as well
            begin = time.monotonic()
            test.failure = self._failure_of([test], 600)
        test.seconds = round(time.monotonic() - begin, 3)

    def seconds(self):
        return {group: sum(row["seconds"] for row in self.rows if row["group"] == group) for group in ("unit", "cases", "rest")}

    def rest_fails(self):
        return [row["name"] for row in self.rows if row["failure"]]

    def is_reached(self, mutant):
        return any(self.numbers.get(mutant.id) in row["reaches"] and not row["failure"] for row in self.rows)

    # ---- the tests with a mutant

    def what_notices(self, mutant, source):
        number = self.numbers.get(mutant.id)
        reaching = [test for test in self.tests if number in test.reaches and not test.failure]
        suites, cases = self.suites_near(mutant.path), self.cases_citing(RULE.findall(source))
        near = {*suites, *(os.path.relpath(path, self.tree) for path in cases)}
        folder = (mutant.path.split("/") + [""])[1]

        def stage(test):
            is_near = folder in test.labels if test.group == "rest" else {test.name, test.name.split(".")[0]} & near
            return ("unit", "cases", "rest").index(test.group), not is_near

        for _, tests in itertools.groupby(sorted(reaching, key=stage), stage):
            tests = list(tests)
            at_once = 1 if tests[0].group == "rest" else AT_ONCE
            for first in range(0, len(tests), at_once):
                by = self._noticed(tests[first:first + at_once], number)
                if by:
                    return by
        return None

    def _noticed(self, tests, number):
        limit = max(60, 10 * sum(test.seconds for test in tests))
        by = self._failure_of(tests, limit, number)
        return self._failure_of(tests, limit, number) if by and tests[0].group == "rest" else by

    def _failure_of(self, tests, limit, number=None):
        """Runs tests of one group in a folder of their own: with a mutant, or to see which ones they reach."""
        group, names = tests[0].group, [test.name for test in tests]
        command = {"unit": [self.program("unit_tests"), "--gtest_fail_fast", "--gtest_brief=1",
                            f"--gtest_filter={':'.join(names)}"],
                   "cases": [self.program("flitwise"), "conform", "-j", "1",
                             *(os.path.join(self.tree, name) for name in names)],
                   "rest": tests[0].command}[group]
        how = dict(tests[0].how)
        with tempfile.TemporaryDirectory(dir=self.work, ignore_cleanup_errors=True) as folder:
            reached = os.path.join(folder, "reached")
            switch = {"FLITWISE_MUTANT": str(number)} if number else {"FLITWISE_MUTANT_LOG": reached}
            temporary = os.path.join(folder, "tmp")
            os.mkdir(temporary)
            how["environment"] = {**how.get("environment", {}), **switch, "TMPDIR": temporary, "TEST_TMPDIR": temporary}
            by = self.failure(group, command, os.path.join(folder, "log"), limit, tests[0].fine, **how)
            if not number and os.path.exists(reached):
                tests[0].reaches = sorted({int(line) for line in read(reached).split()})
        return f"rest: {names[0]}" if by and group == "rest" else by
