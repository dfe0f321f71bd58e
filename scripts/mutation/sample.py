"""scripts/mutate --sample: see its help."""
import argparse
import collections
import hashlib
import json
import os
import re
import signal
import sys
import time

from operators import File, sample_order
from workbench import OutOfTime, Clock, Workbench

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))


class Results:
    """Verdicts, a line of JSON each, so that a stopped run goes on. What was killed stays so until its file changes; a
    survivor is tried again after any change."""

    def __init__(self, path, state, fresh):
        self.path, self.state = path, state
        self.kept, self.baseline = {}, None
        if fresh and os.path.exists(path):
            os.remove(path)
        if os.path.exists(path):
            with open(path, encoding="utf-8") as file:
                for line in file:
                    self._take(line)

    def _take(self, line):
        try:
            row = json.loads(line)
        except ValueError:  # cut off while it was written
            return
        if "baseline" in row:
            self.baseline = row["baseline"] if row["state"] == self.state else self.baseline
        else:
            self.kept[row["id"]] = row

    def find(self, mutant, file_sum):
        row = self.kept.get(mutant.id)
        if row is None or row["state"] != self.state and (row["verdict"] == "survived" or row["file"] != file_sum):
            return None
        return row

    def keep(self, row):
        with open(self.path, "a", encoding="utf-8") as file:
            file.write(json.dumps({**row, "state": self.state}) + "\n")


def seconds_of(text):
    parts = re.fullmatch(r"(\d+(?:\.\d+)?)([smh])", text)
    if not parts:
        raise argparse.ArgumentTypeError(f"'{text}': expected a number and s, m or h, for instance 2h")
    return float(parts.group(1)) * {"s": 1, "m": 60, "h": 3600}[parts.group(2)]


def count_of(text):
    if not re.fullmatch(r"[1-9]\d*", text):
        raise argparse.ArgumentTypeError(f"'{text}': expected a number from 1 on")
    return int(text)


class Parser(argparse.ArgumentParser):
    def error(self, message):
        print(f"{message}; see scripts/mutate --help", file=sys.stderr)
        sys.exit(64)


def options_of(arguments):
    parser = Parser(add_help=False, allow_abbrev=False)
    parser.add_argument("--sample", type=count_of, required=True)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--budget", type=seconds_of)
    parser.add_argument("--list", action="store_true")
    parser.add_argument("--fresh", action="store_true")
    parser.add_argument("-j", type=count_of, default=os.cpu_count(), dest="jobs")
    parser.add_argument("paths", nargs="*")
    split = arguments.index("--") if "--" in arguments else len(arguments)
    options = parser.parse_intermixed_args(arguments[:split])
    options.cmake = arguments[split + 1:]
    options.files = []
    for path in options.paths or [os.path.join(ROOT, "src")]:
        options.files += sources_in(os.path.abspath(path)) or parser.error(f"no C++ source of this tree: {path}")
    return options


def sources_in(path):
    """Files of the tree, relative to it."""
    if os.path.commonpath([ROOT, path]) != ROOT:
        return []
    files = [path] if os.path.isfile(path) else [os.path.join(folder, name) for folder, _, names in os.walk(path)
                                                for name in names]
    return sorted(os.path.relpath(file, ROOT) for file in files if file.endswith((".cpp", ".h")))


class Sample:
    def __init__(self, options, texts):
        self.options, self.texts = options, texts
        mutants = [mutant for path, text in texts.items() for mutant in File(path, text).mutants()]
        self.drawn = sample_order(mutants, options.seed)
        self.counts = collections.Counter()
        self.survivors, self.spent, self.tried = [], 0, 0

    def judged(self):
        return self.counts["killed"] + self.counts["survived"]

    def run(self, bench, results):
        for mutant in self.drawn:
            if self.judged() == self.options.sample:
                return
            text = self.texts[mutant.path]
            file_sum = hashlib.sha256(text.encode()).hexdigest()
            row = results.find(mutant, file_sum)
            if row is None:
                row = {"id": mutant.id, "file": file_sum, **self._try(mutant, text, bench)}
                results.keep(row)
            self._count(mutant, row)

    @staticmethod
    def _try(mutant, text, bench):
        begin = time.monotonic()
        try:
            bench.write(mutant.path, mutant.apply(text))
            verdict, by = bench.judge(mutant.path, text)
        finally:
            bench.write(mutant.path, text)
        return {"place": f"{mutant.path}:{mutant.line}", "operator": mutant.operator, "before": mutant.old_text,
                "after": mutant.new_text, "verdict": verdict, "by": by, "seconds": round(time.monotonic() - begin, 1)}

    def _count(self, mutant, row):
        self.counts[row["verdict"]] += 1
        self.spent += row["seconds"]
        self.tried += 1
        if row["verdict"] == "survived":
            self.survivors.append(mutant)
        if row["verdict"] != "unbuilt":
            print(f"{row['verdict']:<10}  {mutant.operator:<10}  {mutant.path}:{mutant.line}  {row['by']}", flush=True)

    def report(self):
        if self.survivors:
            print("\nSurvivors:")
            width = max(len(f"{mutant.path}:{mutant.line}") for mutant in self.survivors)
            for mutant in self.survivors:
                print(f"{f'{mutant.path}:{mutant.line}':<{width}}  {mutant.operator:<10}  {mutant.old_text}  ->  {mutant.new_text}")
        judged = self.judged()
        share = f" ({100 * self.counts['killed'] / judged:.1f} %)" if judged else ""
        print(f"{judged} of {self.options.sample} mutants: {self.counts['killed']} killed{share}, "
              f"{self.counts['survived']} survived; apart from them {self.counts['equivalent']} equivalent and "
              f"{self.counts['unbuilt']} that do not compile; {self.spent / max(judged, 1):.0f} s a mutant")


def main(arguments):
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    options = options_of(arguments)
    texts = {}
    for path in sorted(set(options.files)):
        with open(os.path.join(ROOT, path), encoding="utf-8", newline="") as file:
            texts[path] = file.read()
    sample = Sample(options, texts)
    if options.list:
        for mutant in sample.drawn[:options.sample]:
            print(f"{mutant.path}:{mutant.line}  {mutant.operator}  {mutant.old_text}  ->  {mutant.new_text}")
        return 0
    work = os.path.join(ROOT, "build/mutate/sample")
    os.makedirs(os.path.join(work, "tree"), exist_ok=True)
    bench = Workbench(ROOT, work, options.jobs, Clock(options.budget), options.cmake)
    results = Results(os.path.join(work, "results.jsonl"), bench.take_over(), options.fresh)
    if not results.baseline:
        print("First the tree is built and tested without a mutant.", file=sys.stderr)
    try:
        measured = bench.measure(results.baseline)
        if isinstance(measured, str):
            print(f"error: {measured}", file=sys.stderr)
            return 1
        if not results.baseline:
            results.keep({"baseline": measured})
        for name in measured["rest_fails"]:
            print(f"warning: {name} fails without a mutant, so that it does not count", file=sys.stderr)
        sample.run(bench, results)
    except (OutOfTime, KeyboardInterrupt):
        print("Stopped; the same call goes on.")
    sample.report()
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
