#!/usr/bin/env python3
"""Usage: docs_commands.py [--long] [--tests FILE] ROOT FLITWISE PAGE...

Runs every command of pages of the docs, each page in a folder of its own that looks like the source tree. A command is
a line "$ COMMAND" of a block ```console, with the lines behind it that a backslash joins; what else stands there is
what it prints, and becomes the file NAME where the command is "cat NAME" and there is none. So does a block ```LANGUAGE
file=NAME. Behind "console" may stand
  long      only with --long
  exit=N    its commands end with that exit code
  by=TEST   that test (of --tests) does what they do; ci: CI itself does
A command outside of such a block is refused, and so is a page whose file, test or block is not as said here. Prints
PAGE:LINE of each command that failed; exit code 1 if any did.
"""
import argparse
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

FENCE = re.compile(r"^(`{3,})\s*(\S*)\s*(.*)$")
OTHERS = ("lspci", "tshark", "text2pcap", "sqlite3", "snakemake", "parallel", "jq")   # may be absent
COMMAND = re.compile(r"^(\$ |sudo |build/\S+ |flitwise |scripts/\w|c(make|test|pack) -|lspci |tshark |jq |python3 )")


def blocks(text):
    """(line of the fence, language, attributes, lines) of each fenced block."""
    fence = None
    for number, line in enumerate(text.splitlines(), 1):
        match = FENCE.match(line)
        if fence is None and match:
            fence, start, language, attributes, lines = match[1], number, match[2], match[3].split(), []
        elif fence is not None and line.rstrip() == fence:
            yield start, language, attributes, lines
            fence = None
        elif fence is not None:
            lines.append(line)


def commands(start, lines):
    """(line, command, what it prints) of each "$ " line."""
    at = 0
    while at < len(lines):
        first = at
        if lines[at].startswith("$ "):
            text = lines[at][2:]
            while text.endswith("\\") and at + 1 < len(lines):
                at += 1
                text += "\n" + lines[at]
            end = at + 1
            while end < len(lines) and not lines[end].startswith("$ "):
                end += 1
            yield start + 1 + first, text, lines[at + 1:end]
        at += 1


def source_tree(root, flitwise, folder):
    """What a reader has: the tree, and the program in build/release and in the path."""
    for entry in sorted(root.iterdir()):
        if entry.name not in ("build", "out", ".git"):
            (folder / entry.name).symlink_to(entry)
    (folder / "build/release").mkdir(parents=True)
    (folder / "build/release/flitwise").symlink_to(flitwise)
    return dict(os.environ, PATH=f"{folder}/build/release:{os.environ['PATH']}", LC_ALL="C.UTF-8")


class Page:
    def __init__(self, options, page):
        self.options, self.page = options, page
        self.failed = self.ran = 0

    def complain(self, line, text):
        self.failed += 1
        print(f"{self.page}:{line}: {text}")

    def run(self):
        with tempfile.TemporaryDirectory() as folder:
            self.folder = pathlib.Path(folder)
            self.environment = source_tree(self.options.root, self.options.flitwise, self.folder)
            for block in blocks((self.options.root / self.page).read_text()):
                self.run_block(*block)
        return self.failed

    def run_block(self, start, language, attributes, lines):
        values = dict(one.split("=", 1) for one in attributes if "=" in one)
        if language != "console":
            if "file" in values:
                self.write(values["file"], lines)
            elif language in ("", "sh", "bash", "shell"):
                for number, line in enumerate(lines, start + 1):
                    if COMMAND.match(line):
                        self.complain(number, f"a command outside of a block ```console: {line}")
            return
        if any(one != "long" and not re.match(r"(by|exit)=\S+$", one) for one in attributes):
            self.complain(start, f"unknown attribute in '{' '.join(attributes)}'; expected long, by=TEST or exit=N")
        if "by" in values:
            if values["by"] != "ci" and values["by"] not in self.options.tests:
                self.complain(start, f"no test is called {values['by']}")
            return
        if "long" in attributes and not self.options.long:
            return
        found = list(commands(start, lines))
        if not found:
            self.complain(start, "no line of this block starts with '$ '")
        for line, command, printed in found:
            shown = re.fullmatch(r"cat (\S+)", command)
            if shown and not (self.folder / shown[1]).exists():
                self.write(shown[1], printed)
                continue
            self.run_command(line, command, int(values.get("exit", 0)))

    def write(self, name, lines):
        target = self.folder / name
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text("\n".join(lines) + "\n")

    def run_command(self, line, command, expected):
        absent = [name for name in OTHERS if re.search(rf"(^|&& |\| ){name} ", command) and not shutil.which(name)]
        if absent:
            print(f"{self.page}:{line}: skipped: no {absent[0]} here")
            return
        self.ran += 1
        done = subprocess.run(["bash", "-o", "pipefail", "-c", command], cwd=self.folder, env=self.environment,
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        if done.returncode != expected:
            tail = done.stdout.decode(errors="replace").strip().splitlines()[-5:]
            self.complain(line, f"exit code {done.returncode}, expected {expected}: $ {command}\n    " + "\n    ".join(tail))


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("--long", action="store_true")
    parser.add_argument("--tests", type=pathlib.Path)
    parser.add_argument("root", type=pathlib.Path)
    parser.add_argument("flitwise")
    parser.add_argument("pages", nargs="+")
    options = parser.parse_args()
    options.root = options.root.resolve()
    options.flitwise = os.path.realpath(options.flitwise)
    options.tests = set(options.tests.read_text().split()) if options.tests else set()
    pages = [Page(options, page) for page in options.pages]
    failed = sum(page.run() for page in pages)
    print(f"{sum(page.ran for page in pages)} commands run, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
