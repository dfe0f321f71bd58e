#!/usr/bin/env bash
# scripts/mutate must refuse a list that does not fit the tree, and tell what a catalogue notices from what it does not. The
# program of this tree is a script, so that nothing is compiled: a case fails where a number differs from the one that it wants.
set -euo pipefail

tree="$(mktemp -d)"
trap 'rm -rf -- "$tree"' EXIT
failures=0
mkdir -p -- "$tree"/{scripts,src,docs/rules,tests/cases,build}
cp -- "$FLITWISE_SOURCE_DIR"/scripts/{mutate,common.sh} "$tree/scripts"
printf -- '- LNK-7.2 A rule. (source)\n- DHI D9 Another. (source)\n' >"$tree/docs/rules/link.md"
printf 'cites: [LNK-7.2, DHI D9]\n' >"$tree/tests/cases/window.yaml"
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

good='LNK-7.2\tsrc/window.cpp\ta < b\ta <= b'
expect 0 "" "# a comment" "$good"
expect 0 "" "# no rule needs a mutant"
expect 0 "" 'LNK-7.2, DHI D9\tsrc/window.cpp\tif (a < b) {\\n  c\tif (b) {\\n  c\ta reason'
expect 1 "stands 2 times" 'LNK-7.2\tsrc/window.cpp\tc = \tc == '
expect 1 "stands 0 times" 'LNK-7.2\tsrc/window.cpp\ta > b\ta < b'
expect 1 "expected once: a < b" 'LNK-7.2\tsrc/window.cpp\ta < b\ta < b'
expect 1 "no file src/gone.cpp" 'LNK-7.2\tsrc/gone.cpp\ta\tb'
expect 1 "expected 4 or 5 columns" 'LNK-7.2\tsrc/window.cpp\ta < b'
expect 1 "docs/rules does not state LNK-7.9" "$good" 'LNK-7.9\tsrc/window.cpp\ta < b\ta > b'

cat >"$tree/CMakeLists.txt" <<'END'
cmake_minimum_required(VERSION 3.20)
project(program LANGUAGES NONE)
add_custom_target(flitwise
  COMMAND bash -n ${CMAKE_SOURCE_DIR}/src/program.sh
  COMMAND ${CMAKE_COMMAND} -E copy ${CMAKE_SOURCE_DIR}/src/program.sh flitwise)
END
cat >"$tree/src/program.sh" <<'END'
#!/usr/bin/env bash
window=1
order=1
spare=1
status=0
shift 3
echo run >>"$FLITWISE_RUNS"
if [[ $spare -eq 3 ]]; then
  echo "window.yaml:1:1: refused"
  exit 2
fi
for file in $(find "$@" -name '*.yaml' | sort); do
  name="$(basename "$file" .yaml)"
  if [[ ${!name} -eq 1 ]]; then
    echo "ok    DHI D9/$name  A case (1 ms)"
  else
    echo "FAIL  DHI D9/$name  A case (1 ms)"
    status=1
  fi
done
exit "$status"
END
chmod +x "$tree/src/program.sh"
longer=LNK-7.22   # no rule of docs, so that it does not stand in brackets
echo "cites: [$longer]" >"$tree/tests/cases/order.yaml"

export FLITWISE_RUNS="$tree/build/runs"

# run STATUS MUTANTS... -- WORDS...: a whole run ends with STATUS and prints each of WORDS.
run() {
  local wanted="$1" mutants=() output status=0 words
  shift
  while [[ $1 != -- ]]; do
    mutants+=("$1")
    shift
  done
  shift
  printf '%b\n' "${mutants[@]}" >"$tree/scripts/mutants.tsv"
  output="$("$tree/scripts/mutate" -j 1 2>&1)" || status=$?
  for words in "exit code $wanted" "$@"; do
    if [[ "$output"$'\n'"exit code $status" != *"$words"* ]]; then
      printf 'FAILED: no "%s" in:\n%s\nexit code %d\n' "$words" "$output" "$status"
      failures=$((failures + 1))
    fi
  done
}

window='LNK-7.2\tsrc/program.sh\twindow=1\twindow=2'
order='LNK-7.2\tsrc/program.sh\torder=1\torder=2'
spare='DHI D9\tsrc/program.sh\tspare=1\tspare=2'
broken='DHI D9\tsrc/program.sh\tdone\tfi'
run 1 "$window" "$order" "$spare" "$broken" -- \
  "killed    LNK-7.2            src/program.sh:2  1: DHI D9/window" \
  "killed    LNK-7.2            src/program.sh:3  others: 1: DHI D9/order" \
  "SURVIVED  DHI D9             src/program.sh:4  no case notices; 1 files of cases cite the rule" \
  "DOES NOT BUILD DHI D9             src/program.sh:20" \
  "4 mutants, 2 killed, 1 survived (0 with a reason), 1 do not build"
run 0 "$window" "$order" "$spare\tnothing reads it" -- "SURVIVED  DHI D9             src/program.sh:4  nothing reads it" \
  "3 mutants, 2 killed, 1 survived (1 with a reason)"
echo 'cites: [DHI D9]' >"$tree/tests/cases/spare.yaml"
run 0 "$window" "$spare" -- "killed    DHI D9             src/program.sh:4  1: DHI D9/spare" "2 mutants, 2 killed, 0 survived"
run 0 "$window" "${spare/spare=2/spare=3}" -- "1: exit code 2: window.yaml:1:1: refused" "2 mutants, 2 killed, 0 survived"
: >"$tree/build/runs"
run 0 "$window" -- "1 mutants, 1 killed"
if [[ $(wc -l <"$tree/build/runs") -ne 1 ]]; then
  echo "FAILED: a mutant was tried again on the same tree, or none was kept"
  failures=$((failures + 1))
fi
mv "$tree/tests/cases/window.yaml" "$tree/tests/cases/other.yaml"
sed -i 's/^order=1/other=1\norder=1/' "$tree/src/program.sh"
run 1 "$window" -- "SURVIVED  LNK-7.2            src/program.sh:2  no case notices; 1 files of cases cite the rule"
sed -i 's/^order=1/order=3/' "$tree/src/program.sh"
run 1 "$spare" -- "warning: 1 cases fail without any mutant" "1 mutants, 1 killed"
sed -i 's/^spare=1/spare=3/' "$tree/src/program.sh"
run 1 'LNK-7.2\tsrc/program.sh\tother=1\tother=2' -- "warning: 1 cases fail without any mutant" "1 mutants, 0 killed, 1 survived"
exit $((failures > 0))
