#!/usr/bin/env bash
# scripts/golden names what it could not take, with the message of the program, and takes the rest.
set -u
command -v jq >/dev/null || { echo "no jq"; exit 77; }
work="$(mktemp -d)"
trap 'rm -rf -- "$work"' EXIT
fail() {
  echo "FAILED: $*"
  exit 1
}

# A program that refuses one config and one sweep, and has one value of every other.
cat >"$work/program" <<'P'
#!/usr/bin/env bash
for word in "$@"; do
  case "$word" in
    *examples/first_write.yaml | *studies/iotlb_reach.yaml)
      echo "${word##*/}:3:1: some.key: 7; expected 8" >&2
      exit 2
      ;;
  esac
done
case "$1" in
  run*) echo '{"links": [{"name": "rp0-ep0", "tlps": 5}]}' ;;
  conform*)
    echo '{"case":"X/one","event":"wire"}' >"$3"
    echo "1 passed, 0 failed"
    ;;
  sweep*) mkdir -p "$5/points" && echo '{"tlps": 6}' >"$5/points/a.json" ;;
esac
P
chmod +x "$work/program"
code=0
out="$("$FLITWISE_SOURCE_DIR/scripts/golden" take "$work/golden" "$work/program" 2>&1)" || code=$?
[[ $code == 1 ]] || fail "exit code $code of what is not complete: $out"
for name in examples/first_write studies/iotlb_reach; do
  [[ $out == *"configs/$name.yaml: failed"*"  ${name##*/}.yaml:3:1: some.key: 7; expected 8"* ]] || fail "$name is not named: $out"
  [[ ! -e $work/golden/configs/${name/\//.}.yaml.tsv ]] || fail "$name failed and has values"
done
[[ $(cat "$work/golden/configs/examples.own_trace.yaml.tsv") == *tlps*5 ]] || fail "a config behind one that failed was not taken: $out"
grep -q "$(printf 'X/one\t')" "$work/golden/cases.tsv" || fail "the cases were not taken"
[[ ! -e $work/golden/errors.txt && ! -e $work/golden/events.jsonl ]] || fail "files are left over"

sed -i 's/^  conform.*/  conform*) echo "bad.yaml:1:1: no case" >\&2 ; exit 2 ;;\n  nothing)/' "$work/program"
out="$("$FLITWISE_SOURCE_DIR/scripts/golden" take "$work/golden" "$work/program" 2>&1)" && fail "cases that fail are a success"
[[ $out == *"cases: failed"*"  bad.yaml:1:1: no case"* ]] || fail "the cases are not named: $out"

echo "all good"
