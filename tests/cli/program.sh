# Sourced by the tests of the program: FLITWISE is its path. Every failed expectation is counted and printed.
set -u
work="$(mktemp -d)"
trap 'rm -rf -- "$work"' EXIT
config="$FLITWISE_SOURCE_DIR/configs/checks/saturated.yaml"
small=(--set workload.requests=500)
failures=0

# complain TEXT...
complain() {
  echo "FAILED: $*"
  failures=$((failures + 1))
}

# expect CODE ARGUMENTS...: runs the program; its output is in $work/out and $work/err afterwards.
expect() {
  local code="$1" seen=0
  shift
  "$FLITWISE" "$@" >"$work/out" 2>"$work/err" </dev/null || seen=$?
  [[ $seen == "$code" ]] || complain "flitwise $*: exit code $seen, expected $code: $(head -c 300 "$work/err")"
}

# refuse CODE ARGUMENTS...: the same, with nothing on stdout and something on stderr.
refuse() {
  expect "$@"
  [[ ! -s $work/out ]] || complain "flitwise ${*:2}: wrote to stdout: $(head -c 200 "$work/out")"
  [[ -s $work/err ]] || complain "flitwise ${*:2}: said nothing"
}

# said TEXT: stderr of the last run has it. printed TEXT: stdout has it.
said() { grep -qF -- "$1" "$work/err" || complain "stderr lacks '$1': $(head -c 300 "$work/err")"; }
printed() { grep -qF -- "$1" "$work/out" || complain "stdout lacks '$1': $(head -c 300 "$work/out")"; }

finish() {
  echo "$failures failed"
  [[ $failures == 0 ]]
}
