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

from alone import Alone
from clock import Clock, OutOfTime
from operators import File, sample_order
from together import Together
from workbench import Failure, state_of

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))


class Results:
    """Verdicts, a line of JSON each, so that a stopped run goes on. What was killed stays so until its file changes; a
    survivor is tried again after any change. Before a verdict, a mutant has a form: alone, guarded, passed (the quick tests
    that reach it), or unnoticed (by all of them)."""

    def __init__(self, path, state):
        self.path, self.state = path, state
        self.kept, self.forms = {}, {}
        if os.path.exists(path):
            with open(path, encoding="utf-8") as file:
                for line in file:
                    if line.endswith("\n"):  # else cut off while it was written
                        self._take(json.loads(line))

    def _take(self, row):
        if "verdict" in row:
            self.kept[row["id"]] = row
        elif "form" in row and row["state"] == self.state:
            self.forms[row["id"]] = row["form"]

    def find(self, mutant, file_sum):
        row = self.kept.get(mutant.id)
        if row is None or row["state"] != self.state and (row["verdict"] == "survived" or row["file"] != file_sum):
            return None
        return row

    def keep(self, row):
        row = {**row, "state": self.state}
        self._take(row)
        with open(self.path, "a", encoding="utf-8") as file:
            file.write(json.dumps(row) + "\n")


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
        self.sums = {path: hashlib.sha256(text.encode()).hexdigest() for path, text in texts.items()}
        mutants = [mutant for path, text in texts.items() for mutant in File(path, text).mutants()]
        self.drawn = sample_order(mutants, options.seed)
        self.chosen, self.counted = [], set()
        self.counts = collections.Counter()
        self.survivors, self.spent = [], 0

    def judged(self):
        return self.counts["killed"] + self.counts["survived"]

    def run(self, together, alone, results):
        """First what is built together, in two stages; then what is left, one by one."""
        together.choose(self._choose(together, results), self.drawn, self.texts, results.state)
        for mutant in self.chosen:
            self._count(mutant, self._find(mutant, results))
        for stage in ("quick", "slow"):
            left = [mutant for mutant in self.chosen if mutant.id not in self.counted]
            if not left:
                return
            together.prepare(stage)
            rows = together.clock.spread(together.jobs, lambda one: self._try_switched(one, together, results), left)
            for mutant, row in rows:
                self._count(mutant, row)
        for name in together.rest_fails():
            print(f"warning: {name} fails without a mutant, so that it does not count", file=sys.stderr)
        is_prepared = False
        for mutant in self.drawn:
            if self.judged() == self.options.sample:
                return
            if mutant.id in self.counted:
                continue
            row = self._find(mutant, results)
            if row is None and not is_prepared:
                alone.prepare(together.seconds(), together.rest_fails())
                is_prepared = True
            self._count(mutant, row or self._try_alone(mutant, alone, results))

    def _choose(self, together, results):
        """Draws until enough can be built, and returns those of them to build together."""
        guarded, count = [], 0
        while count < self.options.sample and len(self.chosen) < len(self.drawn):
            batch = self.drawn[len(self.chosen):][:self.options.sample - count]
            self.chosen += batch
            for mutant, form in together.clock.spread(together.jobs, lambda one: self._form(one, together, results), batch):
                count += form != "none"
                if form in ("guarded", "passed"):
                    guarded.append(mutant)
        return guarded

    def _form(self, mutant, together, results):
        row = self._find(mutant, results)
        if row is not None:
            return "judged" if row["verdict"] in ("killed", "survived") else "none"
        if mutant.id not in results.forms:
            begin = time.monotonic()
            form = together.check(mutant, self.texts[mutant.path])
            if form == "unbuilt":
                self._keep(mutant, ("unbuilt", ""), begin, results)
                return "none"
            results.keep({"id": mutant.id, "form": form})
        return results.forms[mutant.id]

    def _find(self, mutant, results):
        return results.find(mutant, self.sums[mutant.path])

    def _try_switched(self, mutant, together, results):
        """The row of a mutant that is killed; else it has another form."""
        begin = time.monotonic()
        if results.forms[mutant.id] != {"quick": "guarded", "slow": "passed"}[together.stage]:
            return None
        by = together.what_notices(mutant, self.texts[mutant.path])
        if by:
            return self._keep(mutant, ("killed", by), begin, results)
        after = "passed" if together.stage == "quick" else "unnoticed" if together.is_reached(mutant) else "alone"
        results.keep({"id": mutant.id, "form": after})
        return None

    def _try_alone(self, mutant, alone, results):
        begin, text = time.monotonic(), self.texts[mutant.path]
        try:
            alone.write(mutant.path, mutant.apply(text))
            is_unnoticed = results.forms.get(mutant.id) == "unnoticed"
            judged = alone.judge_survivor() if is_unnoticed else alone.judge(mutant.path, text)
        finally:
            alone.write(mutant.path, text)
        return self._keep(mutant, judged, begin, results)

    def _keep(self, mutant, judged, begin, results):
        row = {"id": mutant.id, "file": self.sums[mutant.path], "place": f"{mutant.path}:{mutant.line}",
               "operator": mutant.operator, "before": mutant.old_text, "after": mutant.new_text,
               "verdict": judged[0], "by": judged[1], "seconds": round(time.monotonic() - begin, 1)}
        results.keep(row)
        return row

    def _count(self, mutant, row):
        if row is None:
            return
        self.counted.add(mutant.id)
        self.counts[row["verdict"]] += 1
        self.spent += row["seconds"]
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
    os.makedirs(work, exist_ok=True)
    clock = Clock(options.budget)
    alone = Alone(ROOT, work, options.jobs, clock, options.cmake)
    together = Together(ROOT, os.path.join(work, "together"), options.jobs, clock, options.cmake)
    kept = os.path.join(work, "results.jsonl")
    for path in (kept, together.measured) if options.fresh else ():
        if os.path.exists(path):
            os.remove(path)
    results = Results(kept, state_of(ROOT, options.cmake))
    try:
        sample.run(together, alone, results)
    except Failure as failure:
        print(f"error: {failure}", file=sys.stderr)
        return 1
    except (OutOfTime, KeyboardInterrupt):
        print("Stopped; the same call goes on.")
    sample.report()
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
