#!/usr/bin/env bash
# Usage: run_config.sh FLITWISE FILE
#
# One file of configs/: a configuration is valid and runs for a few requests; a sweep can be planned.
set -euo pipefail
flitwise="$1"
file="$2"
out="$(mktemp -d)"
trap 'rm -rf -- "$out"' EXIT

# expect_file NAME: the program must have left that file, with something in it.
expect_file() {
  [[ -s $out/$1 ]] || { echo "no $1 was written"; exit 1; }
}

if grep -qE '^(axes|blocks|seeds|zip):' -- "$file"; then
  "$flitwise" sweep plan "$file" -o "$out"
  expect_file manifest.jsonl
  exit 0
fi
"$flitwise" check "$file"
"$flitwise" run "$file" --set workload.requests=200 --set run.warmup=0 -o "$out" --quiet
expect_file result.json
