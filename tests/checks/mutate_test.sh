#!/usr/bin/env bash
# scripts/mutate --check must accept a list that fits the tree, and refuse each way in which one does not.
set -euo pipefail

tree="$(mktemp -d)"
trap 'rm -rf -- "$tree"' EXIT
failures=0
mkdir -p -- "$tree"/{scripts,src,docs/rules,tests/cases}
cp -- "$FLITWISE_SOURCE_DIR"/scripts/{mutate,common.sh} "$tree/scripts"
printf -- '- LNK-7.2 A rule. (source)\n- DHI D9 Another. (source)\n' >"$tree/docs/rules/link.md"
printf 'if (a < b) {\n  c = 1;\n}\nc = 2;\n' >"$tree/src/window.cpp"

# expect STATUS WORDS LINE...: --check with these lines ends with STATUS and prints WORDS.
expect() {
  local wanted="$1" words="$2" output status=0
  shift 2
  printf '%b\n' "$@" >"$tree/scripts/mutants.tsv"
  output="$("$tree/scripts/mutate" --check 2>&1)" || status=$?
  if [[ $status -ne $wanted || $output != *"$words"* ]]; then
    printf 'FAILED: exit code %d, expected %d and "%s":\n%s\n' "$status" "$wanted" "$words" "$output"
    failures=$((failures + 1))
  fi
}

reason='DHI D9\t-\t-\t-\tnot modelled'
good='LNK-7.2\tsrc/window.cpp\ta < b\ta <= b'
expect 0 "" "# a comment" "$good" "$reason"
expect 0 "" 'LNK-7.2, DHI D9\tsrc/window.cpp\tif (a < b) {\\n  c\tif (b) {\\n  c\ta reason'
expect 1 "stands 2 times" 'LNK-7.2\tsrc/window.cpp\tc = \tc == ' "$reason"
expect 1 "stands 0 times" 'LNK-7.2\tsrc/window.cpp\ta > b\ta < b' "$reason"
expect 1 "expected once: a < b" 'LNK-7.2\tsrc/window.cpp\ta < b\ta < b' "$reason"
expect 1 "no file src/gone.cpp" 'LNK-7.2\tsrc/gone.cpp\ta\tb' "$reason"
expect 1 "expected 4 or 5 columns" 'LNK-7.2\tsrc/window.cpp\ta < b' "$reason"
expect 1 "neither a mutant nor a reason" "$good" 'DHI D9\t-\t-\t-'
expect 1 "no mutant breaks DHI D9" "$good"
expect 1 "docs/rules does not state LNK-7.9" "$good" "$reason" 'LNK-7.9\tsrc/window.cpp\ta < b\ta > b'
exit $((failures > 0))
