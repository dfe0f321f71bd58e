# What stands in the place of a file to be read or written: FIFOs, folders, links that loop, other files of the same run, no name.
. "$(dirname "$0")/program.sh"

# in_time CODE ARGUMENTS...: as refuse, but what waits for ever fails and is ended.
in_time() {
  local code="$1" seen=0
  shift
  timeout -k 1 20 "$FLITWISE" "$@" >"$work/out" 2>"$work/err" </dev/null || seen=$?
  [[ $seen == "$code" ]] || complain "flitwise $*: exit code $seen, expected $code: $(head -c 300 "$work/err")"
}
quick=("${small[@]}" --quiet)
endless=(--set workload.requests=100000000 --quiet) # refused before the run, or the test takes for ever

# The results of a run are regular files, and that is known before the run.
for name in result.json result.sqlite; do
  mkdir -p "$work/$name.fifo" "$work/$name.folder/$name"
  mkfifo "$work/$name.fifo/$name"
  in_time 2 run "$config" "${endless[@]}" -o "$work/$name.fifo"
  said "$name: is a pipe or a device; expected a regular file or none"
  [[ -p $work/$name.fifo/$name ]] || complain "the FIFO $name is gone"
  in_time 2 run "$config" "${endless[@]}" -o "$work/$name.folder"
  said "$name: is a directory; expected a regular file or none"
done
in_time 2 run "$config" "${endless[@]}" --config-space "$work"
said "Is a directory"
in_time 2 report "$work/result.json.fifo" -o "$work/page.html"
said "is a pipe or a device"

# /dev/shm is a place like any other: the second run takes the place of the first.
if [[ -d /dev/shm && -w /dev/shm ]]; then
  shm="$(mktemp -d /dev/shm/flitwise-test-XXXXXX)"
  expect 0 run "$config" "${quick[@]}" -o "$shm"
  expect 0 run "$config" "${quick[@]}" -o "$shm" --seed 7
  python3 -c 'import json, sys; assert json.load(open(sys.argv[1]))["flitwise"]["seed"] == 7' "$shm/result.json" ||
    complain "two runs into /dev/shm leave no result of the second"
  rm -rf -- "$shm"
fi

# Devices and pipes that the user names are written to.
"$FLITWISE" run "$config" "${quick[@]}" --trace packets=/dev/stdout >"$work/redirected" || complain "a trace to stdout fails"
[[ $(head -c 8 "$work/redirected") == first_ns ]] || complain "a trace to stdout is not there"
expect 0 run "$config" "${quick[@]}" --trace packets=/dev/null --config-space /dev/null
mkfifo "$work/reader"
timeout 20 cat "$work/reader" >"$work/read" &
in_time 0 run "$config" "${quick[@]}" --config-space "$work/reader"
wait $!
grep -q "^00:" "$work/read" || complain "a configuration space into a FIFO did not arrive"

# stopped ARGUMENTS...: SIGTERM after a second ends a command that waits for the other end of a FIFO with 130.
stopped() {
  local code=0
  timeout --preserve-status -k 10 1 "$FLITWISE" "$@" >"$work/out" 2>"$work/err" </dev/null || code=$?
  [[ $code == 130 ]] || complain "flitwise $*: SIGTERM at a FIFO ended it with $code, expected 130: $(head -c 200 "$work/err")"
}
mkfifo "$work/nobody.yaml"
expect 0 run "$config" "${quick[@]}" -o "$work/one"
stopped report "$work/one" -o "$work/nobody.yaml"
stopped run "$config" "${quick[@]}" --trace packets="$work/nobody.yaml"
stopped check "$work/nobody.yaml"
stopped conform "$work/nobody.yaml"
stopped conform "$FLITWISE_SOURCE_DIR/tests/cases/tags" --case "$(sed -n 's/^id: //p' "$FLITWISE_SOURCE_DIR"/tests/cases/tags/*.yaml | head -1)*" --junit "$work/nobody.yaml"

# A run overwrites nothing that it reads, nor one of its files with another.
sed "s#^base: *#base: $FLITWISE_SOURCE_DIR/configs/checks/#" "$config" >"$work/base.yaml"
printf 'base: base.yaml\n' >"$work/own.yaml"
printf 'time_ns,domain,op,address,bytes\n0,0,write,0x100000000,64\n' >"$work/trace.csv"
printf '64,50\n128,100\n' >"$work/sizes.csv"
ln -s own.yaml "$work/link.yaml"
inputs() { cat "$work/own.yaml" "$work/base.yaml" "$work/trace.csv" "$work/sizes.csv" | sha256sum; }
before="$(inputs)"
own=(run "$work/own.yaml" "${endless[@]}")
for output in packets config-space; do
  to() { if [[ $output == packets ]]; then echo "--trace=packets=$1"; else echo "--config-space=$1"; fi; }
  in_time 64 "${own[@]}" "$(to "$work/own.yaml")"
  said "is the config as well"
  in_time 64 "${own[@]}" "$(to "$work/./link.yaml")"
  in_time 64 "${own[@]}" "$(to "$work/base.yaml")"
  said "is the base of the config as well"
  in_time 64 "${own[@]}" --set workload.kind=trace --set workload.trace="$work/trace.csv" "$(to "$work/trace.csv")"
  said "is workload.trace as well"
  in_time 64 "${own[@]}" --set workload.sizes="$work/sizes.csv" "$(to "$work/sizes.csv")"
  in_time 64 "${own[@]}" -o "$work/new" "$(to "$work/new/result.json")"
  said "is result.json of --out as well"
  in_time 64 "${own[@]}" -o "$work/one" "$(to "$work/one/../one/result.sqlite")"
done
in_time 64 "${own[@]}" --trace packets="$work/same" --config-space "$work/./same"
in_time 64 "${own[@]}" --trace packets="$work/same" --trace packets="$work/other"
said "given twice"
[[ "$(inputs)" == "$before" ]] ||
  complain "an input was overwritten"
[[ ! -e $work/new && ! -e $work/same ]] || complain "a refused run has made files"
in_time 64 report "$work/one" -o "$work/one/result.json"
in_time 64 report "$work/one/result.json" -o "$work/one/result.json"
a_case="$work/cases/a.yaml"
mkdir "$work/cases"
cp "$(grep -rL 'base:' "$FLITWISE_SOURCE_DIR/tests/cases/tags" | sort | head -1)" "$a_case"
in_time 64 conform "$work/cases" --junit "$a_case"
in_time 64 conform "$work/cases" --events "$a_case"
in_time 64 conform "$work/cases" --events "$work/same" --junit "$work/same"

# Results replace a link in their place and leave alone what it leads to; what the user names is written through one.
mkdir "$work/linked"
for name in result.json result.sqlite; do
  echo "$name is not ours" >"$work/$name.kept"
  ln -s "../$name.kept" "$work/linked/$name"
done
ln -s "$work/one/result.json" "$work/linked/trace.csv"
for round in 1 2; do
  expect 0 run "$config" "${quick[@]}" -o "$work/linked"
  for name in result.json result.sqlite; do
    [[ -f $work/linked/$name && ! -L $work/linked/$name ]] || complain "$name is no regular file of its own after run $round"
    [[ $(cat "$work/$name.kept") == "$name is not ours" ]] || complain "run $round wrote $name through a link"
  done
done
# Also where nothing is yet; and such a link does not make two files one.
for output in trace report; do
  ln -s "$work/to_come/$output" "$work/$output.link"
done
ln -s result.json "$work/linked/p.jsonl"
for round in 1 2; do
  expect 0 run "$config" "${quick[@]}" --trace packets="$work/trace.link"
  expect 0 report "$work/one" -o "$work/report.link"
  for output in trace report; do
    [[ -L $work/$output.link && -s $work/to_come/$output ]] || complain "run $round wrote no $output through a link that led to nothing"
  done
  rm -f "$work/linked/result.json" "$work/linked/result.sqlite"
  [[ $round == 1 ]] || expect 0 run "$config" "${quick[@]}" -o "$work/linked"
  in_time 64 run "$config" "${endless[@]}" -o "$work/linked" --trace packets="$work/linked/p.jsonl"
  said "is result.json of --out as well"
done
[[ -L $work/linked/p.jsonl ]] || complain "a refused run replaced a link"
# A result that a link leads to is none of the folder: the files that it names stay.
expect 0 run "$config" "${quick[@]}" -o "$work/traced" --trace packets="$work/traced/packets.csv"
rm "$work/linked/result.json" "$work/linked/p.jsonl"
ln -s ../traced/result.json "$work/linked/result.json"
echo mine >"$work/linked/packets.csv"
expect 0 run "$config" "${quick[@]}" -o "$work/linked"
[[ $(cat "$work/linked/packets.csv") == mine ]] || complain "a file that another folder's result names is gone"

# A page takes the place of no trace of a run to report.
for result in traced traced/result.json; do
  before="$(sha256sum "$work/traced/packets.csv")"
  in_time 64 report "$work/$result" -o "$work/traced/packets.csv"
  said "is a file of a result to report as well"
  [[ "$(sha256sum "$work/traced/packets.csv")" == "$before" ]] || complain "a page took the place of a trace"
done
in_time 64 report "$work/traced" -o "$work/linked/../traced/packets.csv"
in_time 0 report "$work/traced" -o "$work/traced/page.html"

# No name is no name of a file.
in_time 64 run "$config" "${endless[@]}" -o ''
said "no name; expected a path"
in_time 64 run "$config" "${endless[@]}" --config-space ''
in_time 64 report "$work/one" -o ''
in_time 64 conform "$work/cases" --junit ''
in_time 64 conform --campaign 1 -o ''
in_time 64 script - --config ''

# A link that loops, or leads nowhere, is passed over in a folder of cases, and said.
ln -s loop.yaml "$work/cases/loop.yaml"
ln -s nowhere "$work/cases/dead.yaml"
expect 0 conform "$work/cases"
printed " 0 failed"
said "cases/loop.yaml is a link that leads to no file; passed over"
said "cases/dead.yaml is a link"
refuse 2 conform "$work/cases/loop.yaml"
said "cannot be read: "
for command in check run script report "sweep run -o $work/o"; do
  # shellcheck disable=SC2086
  in_time 2 $command "$work/cases/loop.yaml" $([[ $command == report ]] && echo -o "$work/page.html")
done

# A sweep refuses what stands in the place of a file of one of its points before any point runs.
printf 'base: %s\nset: {workload.requests: 100}\naxes: {link.mps: [128B, 256B]}\n' "$config" >"$work/study.yaml"
in_time 64 sweep plan "$work/study.yaml" -o ''
in_time 64 sweep run "$work/study.yaml" -o ''
expect 0 sweep plan "$work/study.yaml" -o "$work/sweep"
id="$(sed -n '2s/.*"id":"\([0-9a-f]*\)".*/\1/p' "$work/sweep/manifest.jsonl")"
in_place() { # KIND PATH: puts it there; what was there goes
  rm -rf -- "$2"
  if [[ $1 == FIFO ]]; then mkfifo "$2"; else mkdir "$2"; fi
}
for kind in FIFO folder; do
  for name in "points/$id.json" "logs/$id.log" results.sqlite points.csv; do
    in_place "$kind" "$work/sweep/$name"
    in_time 4 sweep run "$work/sweep"
    said "$name: is a "
    ls "$work"/sweep/points/*.json >/dev/null 2>&1 && [[ $name != points/* ]] && complain "points ran before $name was refused"
    rm -rf -- "$work/sweep/$name"
  done
done
cp -r "$work/sweep" "$work/links"
mkdir "$work/mine"
for name in "points/$id.json" "logs/$id.log" results.sqlite points.csv; do
  rm -f "$work/links/$name"
  echo mine >"$work/mine/${name##*.}"
  ln -s "$work/mine/${name##*.}" "$work/links/$name"
done
in_time 0 sweep run "$work/links"
[[ $(cat "$work"/mine/* | sort -u) == mine ]] || complain "a sweep wrote through a link"
[[ -z $(find "$work/links" -type l) ]] || complain "a sweep left links in place of its files: $(find "$work/links" -type l)"
in_place FIFO "$work/sweep/points/$id.json"
in_time 4 sweep status "$work/sweep"
printed "0 of 2 points have a result"
in_time 4 sweep point --manifest "$work/sweep/manifest.jsonl" --index 1 --out "$work/sweep"
in_time 4 sweep merge "$work/sweep"
rm "$work/sweep/points/$id.json"
cp -r "$work/sweep" "$work/odd"
in_place FIFO "$work/odd/study.json"
in_time 2 sweep merge "$work/odd"
said "study.json: is a pipe or a device"
in_time 4 sweep plan "$work/study.yaml" -o "$work/odd"
in_place FIFO "$work/odd/manifest.jsonl"
in_time 2 sweep status "$work/odd"
in_time 2 report "$work/odd" -o "$work/page.html"
mkfifo "$work/fifo.sqlite"
in_time 2 report "$work/fifo.sqlite" -o "$work/page.html"
in_time 2 run "$config" --set workload.sizes="$work/reader"
said "is a pipe or a device"
in_time 0 sweep run "$work/sweep"
printed "2 rows"

# A page takes the place of no file of a run or a sweep, be it of the folder to report or of the folder of a file.
refuse_page() { # RESULT PAGE
  local before
  before="$(find "$work/sweep" "$work/one" -type f -exec sha256sum {} + | sort)"
  in_time 64 report "$work/$1" -o "$work/$2"
  [[ "$(find "$work/sweep" "$work/one" -type f -exec sha256sum {} + | sort)" == "$before" ]] || complain "report $1 -o $2 changed a file"
}
refuse_page one one/result.sqlite
said "is result.sqlite of a folder to report as well"
refuse_page one/result.json one/result.sqlite
for name in manifest.jsonl study.json points.csv points.txt array.sbatch merge.sbatch results.sqlite; do
  refuse_page sweep "sweep/$name"
  refuse_page sweep/results.sqlite "sweep/$name"
  refuse_page "sweep/points/$id.json" "sweep/$name"
done
for name in "points/$id.json" points/new.html "logs/$id.log"; do
  refuse_page sweep "sweep/$name"
  said "of a sweep to report; expected another folder"
  refuse_page sweep/results.sqlite "sweep/$name"
  refuse_page "sweep/points/$id.json" "one/../sweep/$name"
done
ln -s "sweep/points/$id.json" "$work/link.html"
refuse_page sweep link.html
in_time 0 report "$work/sweep" "$work/one" -o "$work/sweep/report.html"
in_time 0 report "$work/sweep/results.sqlite" -o "$work/sweep/report.html"
finish
