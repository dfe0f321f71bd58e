#!/usr/bin/env bash
# The fuzz script knows its targets; each has seeds, and a wrong call says so before anything is built.
set -euo pipefail
fuzz="$FLITWISE_SOURCE_DIR/scripts/fuzz"
failures=0
fail() {
  echo "FAILED: $*"
  failures=$((failures + 1))
}

# refuses ARGUMENTS...: ends with 64 and says why.
refuses() {
  local status=0 output
  output="$("$fuzz" "$@" 2>&1)" || status=$?
  [[ $status -eq 64 && -n $output ]] || fail "scripts/fuzz $* ends with $status: $output"
}

targets="$("$fuzz" --list)"
count=0
while IFS= read -r target; do
  count=$((count + 1))
  seeds=("$FLITWISE_SOURCE_DIR/tests/fuzz/corpus/$target"/*)
  [[ -s ${seeds[0]} ]] || fail "$target has no seeds"
done <<<"$targets"
[[ $count -ge 11 ]] || fail "only $count targets"
for folder in "$FLITWISE_SOURCE_DIR"/tests/fuzz/corpus/*; do
  grep -qx "$(basename -- "$folder")" <<<"$targets" || fail "$folder belongs to no target"
done

refuses 5 no_such_target
refuses no_such_target
refuses 0
refuses 1.5
refuses --frobnicate
exit "$((failures > 0))"
