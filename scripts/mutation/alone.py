"""One mutant a build."""
import hashlib
import os
import re

from workbench import FAILED, OTHER_TESTS, RULE, Failure, Workbench, read


class Alone(Workbench):
    """Tests go from what is quick and near to what is slow: unit tests of the folder, all unit tests, cases that cite a
    rule which the file cites, all cases, other tests of CI with the folder's name as a label, all other tests of CI but
    those of the source tree and of the fuzz corpus."""

    def prepare(self, seconds, rest_fails):
        """Builds the tree as it is; how long its tests take and which of the last stage fail is known."""
        self.seconds, self.rest_fails = seconds, rest_fails
        self.take_over()
        if not self.configure() or not self.builds("all"):
            raise Failure(f"the tree does not build; see {self.log}")
        self.originals = {program: self._sum_of(program) for program in ("unit_tests", "flitwise")}

    def _sum_of(self, program):
        return hashlib.sha256(read(self.program(program))).hexdigest()

    def differs(self, program):
        return self._sum_of(program) != self.originals[program]

    def judge(self, path, source):
        """The verdict on what is applied, and what noticed it."""
        if not self.compiles(os.path.join(self.tree, path), self.log) or not self.builds("unit_tests"):
            return "unbuilt", ""
        tests = self.differs("unit_tests")
        by = tests and (self._unit(self.suites_near(path)) or self._unit())
        if by:
            return "killed", by
        if not self.builds("flitwise"):
            return "unbuilt", ""
        program = self.differs("flitwise")
        if not tests and not program:
            return "equivalent", ""
        near = program and self.cases_citing(RULE.findall(source))
        by = near and self._cases(near) or program and self._cases()
        if by:
            return "killed", by
        if not self.builds("all"):
            return "unbuilt", ""
        by = self._confirmed_rest((path.split("/") + [""])[1]) or self._confirmed_rest("")
        return ("killed", by) if by else ("survived", "")

    def judge_survivor(self):
        """The same of what no test notices that reaches it."""
        for program in ("flitwise", "unit_tests"):
            if not self.builds(program):
                return "unbuilt", ""
            if self.differs(program):
                return "survived", ""
        return "equivalent", ""

    def _run(self, group, command):
        return self.failure(group, command, self.log, max(60, 5 * self.seconds[group]))

    def _unit(self, suites=()):
        chosen = [f"--gtest_filter={':'.join(suite + '.*' for suite in suites)}"] if suites else []
        return self._run("unit", [self.program("unit_tests"), "--gtest_fail_fast", "--gtest_brief=1", *chosen])

    def _cases(self, files=()):
        files = files or [os.path.join(self.tree, "tests/cases")]
        return self._run("cases", [self.program("flitwise"), "conform", "-j", str(self.jobs), *files])

    def _rest(self, only=(), label=""):
        labels = ["-L", f"^{label}$"] if label else []
        chosen = ["-R", self._one_of(only)] if only else ["-E", self._one_of(self.rest_fails)] if self.rest_fails else []
        return self._run("rest", ["ctest", "--test-dir", self.build, *OTHER_TESTS, "-j", str(self.jobs), *labels, *chosen])

    def _confirmed_rest(self, label):
        """What failed runs again and alone, since a busy machine fails a test as well."""
        by = self._rest(label=label)
        failed = re.findall(FAILED["rest"], read(self.log).decode(errors="replace"), re.MULTILINE) if by else []
        return self._rest(failed) if failed else by

    @staticmethod
    def _one_of(names):
        return f"^({'|'.join(map(re.escape, names))})$"
