"""A copy of the tree that mutants are built and tested in."""
import hashlib
import json
import os
import re
import shlex
import shutil

LEFT_OUT = re.compile(r"^(build.*|out|\.git|\.ccache)$")
# A verdict hangs on these.
COUNTS = re.compile(r"^(CMakeLists\.txt|(cmake|configs|include|models|src|tests|docs/rules)/.*)$")
RULE = re.compile(r"\b(?:[A-Z]{3}-\d+(?:\.\d+)?|DHI [DS]\d+(?:\.\d+)?)\b")
OTHER_TESTS = ["-L", "^ci$", "-LE", "^(unit|cases|checks|fuzz)$"]
# What tells in the output of tests which one failed.
FAILED = {"unit": r"^\[  FAILED  \] ([\w/.]+)", "cases": r"^FAIL  (\S+(?: \S+)*)",
          "rest": r"^\s*\d+ - (\S+) \("}  # in the list at the end of what ctest prints


class Failure(Exception):
    """The tree without a mutant does not build or pass."""


def read(path):
    with open(path, "rb") as file:
        return file.read()


def files_below(top):
    for folder, folders, files in os.walk(top):
        if folder == top:
            folders[:] = [name for name in folders if not LEFT_OUT.match(name)]
        for name in files:
            yield os.path.relpath(os.path.join(folder, name), top)


def state_of(root, options):
    """One sum over all that a verdict hangs on beside the mutant."""
    digest = hashlib.sha256(" ".join(options).encode())
    for path in sorted(filter(COUNTS.match, files_below(root))):
        digest.update(f"{path} {hashlib.sha256(read(os.path.join(root, path))).hexdigest()}\n".encode())
    return digest.hexdigest()


class Workbench:
    def __init__(self, root, work, jobs, clock, options, flags=""):
        self.root, self.work, self.jobs, self.clock, self.options, self.flags = root, work, jobs, clock, options, flags
        self.tree, self.build = os.path.join(work, "tree"), os.path.join(work, "build")
        self.log = os.path.join(work, "last.log")
        os.makedirs(self.tree, exist_ok=True)

    def take_over(self, changed=None):
        """Makes the copy equal to the tree but for the texts of changed files. What is the same keeps its time, so that it
        is not built again."""
        changed = changed or {}
        wanted = set(files_below(self.root))
        for path in files_below(self.tree):
            if path not in wanted:
                os.remove(os.path.join(self.tree, path))
        for path in sorted(wanted):
            text = changed[path].encode() if path in changed else read(os.path.join(self.root, path))
            target = os.path.join(self.tree, path)
            if not os.path.exists(target) or read(target) != text:
                os.makedirs(os.path.dirname(target), exist_ok=True)
                with open(target, "wb") as file:
                    file.write(text)
                shutil.copymode(os.path.join(self.root, path), target)

    def write(self, path, text):
        with open(os.path.join(self.tree, path), "w", encoding="utf-8", newline="") as file:
            file.write(text)

    # ---- building

    def configure(self):
        """In batches of four sources: one mutant of a .cpp takes half the time that batches of twelve take, and one of a
        header little more; file by file, a header takes half as long again. Without
        [[gnu::flatten]], which costs time to compile and changes no result."""
        return self.clock.run(
            ["cmake", "-S", self.tree, "-B", self.build, "-G", "Ninja", "-DCMAKE_BUILD_TYPE=Release",
             f"-DCMAKE_CXX_FLAGS_RELEASE=-O1 -DNDEBUG -Dflatten=hot{self.flags}", "-DCMAKE_UNITY_BUILD=ON",
             "-DCMAKE_UNITY_BUILD_BATCH_SIZE=4", "-DCMAKE_EXPORT_COMPILE_COMMANDS=ON", "-DFLITWISE_LTO=OFF",
             "-DFLITWISE_TESTS=ON", *self.options], self.log) == 0

    def builds(self, target, *options):
        command = ["cmake", "--build", self.build, "--target", target, "-j", str(self.jobs), *options]
        return self.clock.run(command, self.log) == 0

    def compiles(self, path, log):
        """Asks the compiler alone about one file, since it is quicker than building all that includes it."""
        commands = [entry["command"] for entry in json.loads(read(os.path.join(self.build, "compile_commands.json")))]
        command = shlex.split(max(commands, key=lambda text: text.count(" -D")))
        command = command[:command.index("-o")]  # CMake ends it with -o OBJECT -c SOURCE
        folders = ["-I" + os.path.join(self.tree, folder) for folder in ("include", "src", "models")]
        return self.clock.run([*command, *folders, "-w", "-fsyntax-only", "-x", "c++", path], log) == 0

    def program(self, name):
        paths = [os.path.join(self.build, name), os.path.join(self.build, "tests", name)]
        return next(path for path in paths if os.path.exists(path))

    # ---- tests

    def failure(self, group, command, log, limit, fine=(0,), **how):
        """Runs tests of a group: what noticed, or None. On a busy machine a time limit may have another cause than the
        mutant, so that it is tried again with more time."""
        code = self.clock.run(command, log, limit, **how)
        if code is None:
            code = self.clock.run(command, log, 3 * limit, **how)
        if code in fine:
            return None
        if code is None:
            return f"{group}: time limit"
        failed = re.search(FAILED[group], read(log).decode(errors="replace"), re.MULTILINE)
        return f"{group}: {failed.group(1)}" if failed else f"{group}: exit code {code}"

    def suites_near(self, path):
        """Test suites in the folder of tests/unit that is named as the file's."""
        parts = path.split("/")
        folder = os.path.join(self.tree, "tests/unit", parts[1] if len(parts) > 2 else "")
        suites = set()
        for name in sorted(os.listdir(folder)) if len(parts) > 2 and os.path.isdir(folder) else []:
            if name.endswith("_test.cpp"):
                suites.update(re.findall(rb"^TEST(?:_F)?\((\w+),", read(os.path.join(folder, name)), re.MULTILINE))
        return sorted(suite.decode() for suite in suites)

    def case_files(self):
        top = os.path.join(self.tree, "tests/cases")
        return [os.path.join(top, path) for path in sorted(files_below(top)) if path.endswith(".yaml")]

    def cases_citing(self, rules):
        wanted, files = set(rules), []
        for path in self.case_files():
            cited = re.search(rb"^cites: *\[(.*)\]", read(path), re.MULTILINE)
            if cited and wanted & {rule.strip() for rule in cited.group(1).decode().split(",")}:
                files.append(path)
        return files
