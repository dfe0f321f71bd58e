# What the program tells people: that nothing succeeded, what was lost, tables that fit a terminal, keys without effect.
. "$(dirname "$0")/program.sh"

# A run in which every request was refused does not read as a success; one refused by design, or in part, needs no word.
for kind in posted_write read; do
  expect 0 run "$config" "${small[@]}" --set workload.kind=$kind --set host.dma_window.size=64KiB
  printed "No request succeeded: none reached memory or was answered with its data (outside_dma_window 500)."
  said "warning: No request succeeded"
done
expect 0 run "$config" "${small[@]}"
! grep -q "No request succeeded" "$work/out" "$work/err" || complain "a run that succeeds is called a failure"
expect 0 run "$config" "${small[@]}" --quiet --set host.dma_window.size=64KiB
said "warning: No request succeeded"

# The bit-packed carrier sends nothing again: who waits for a message that was damaged is told which one.
bits="$FLITWISE_SOURCE_DIR/configs/checks/bit_packed.yaml"
expect 3 run "$bits" --set workload.requests=200 --set 'faults.up.corrupt_tlps=[3, 17]'
said "rp0-ep0 up: 2 messages were damaged and are lost, since this carrier sends nothing again; the first: #"
expect 0 run "$bits" --set workload.requests=200

# Pass-through ends at the PASID entry: the IOTLB is neither asked nor hit.
expect 0 run "$FLITWISE_SOURCE_DIR/configs/calibrations/broadwell_iommu.yaml" --json --set iommu.translation=pass_through --set workload.requests=2000 --set run.warmup=0
python3 - "$work/out" <<'P' || complain "pass-through is counted as hits of the IOTLB"
import json, sys
agent = json.load(open(sys.argv[1]))["iommu"][0]
assert agent["requests"] == 2000 and agent["iotlb_hits"] == 0 and agent["walks"] == 1, agent
assert agent["iotlb_misses"] + agent["iotlb_misses_under_miss"] == 1, agent
P

# Where the machine has no terminals to give, what needs one is left out.
has_terminal() { python3 -c 'import pty; pty.openpty()' 2>/dev/null; }

# On a terminal tables are as wide as it is; sentences wrap by themselves.
# on_terminal COLUMNS ARGUMENTS...: all lines go to $work/lines, the rows that are too wide to $work/wide.
on_terminal() {
  LINES="$work/lines" python3 - "$FLITWISE" "$@" >"$work/wide" <<'P'
import fcntl, os, pty, struct, sys, termios
columns = int(sys.argv[2])
child, master = pty.fork()
if child == 0:
    fcntl.ioctl(1, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
    os.execv(sys.argv[1], [sys.argv[1]] + sys.argv[3:])
text = b""
while True:
    try:
        piece = os.read(master, 65536)
    except OSError:
        break
    if not piece:
        break
    text += piece
os.waitpid(child, 0)
lines = text.decode().replace("\r\n", "\n").split("\n")
assert len(lines) > 5, lines
open(os.environ["LINES"], "w").write("\n".join(lines))
print("".join(line + "\n" for line in lines if len(line) > columns and "  " in line and "\r" not in line), end="")
P
  [[ $? == 0 ]] || complain "no terminal for ${*:2}"
}
if has_terminal; then
  for each in examples/handles_under_zipf examples/cxl_hdm_db examples/switch_two_devices calibrations/broadwell_iommu checks/saturated; do
    on_terminal 80 run "$FLITWISE_SOURCE_DIR/configs/$each.yaml" --set workload.requests=300
    [[ ! -s $work/wide ]] || complain "$each on 80 columns: $(head -3 "$work/wide")"
  done
  on_terminal 200 run "$config" "${small[@]}"
  [[ ! -s $work/wide ]] || complain "200 columns are not enough: $(head -1 "$work/wide")"
fi
expect 0 run "$config" "${small[@]}"
grep -q "link efficiency  replayed TLPs" "$work/out" || complain "a file has no width, and yet the table is cut"

printf 'base: %s\nset: {workload.requests: 100}\naxes: {workload.payload: [64B, 256B], link.identity: [bdf_pasid, dhi]}\n' "$config" >"$work/study.yaml"
if has_terminal; then
  on_terminal 80 sweep run "$work/study.yaml" -o "$work/sweep"
  [[ ! -s $work/wide ]] || complain "a sweep on 80 columns: $(head -3 "$work/wide")"
fi
printf 'figures: {goodput: {is: up_goodput_gbps}}\ncolumns: [goodput]\nsummary: [{workload.payload: 64B}]\n' >>"$work/study.yaml"
expect 0 sweep run "$work/study.yaml" -o "$work/sweep"
printed "goodput"
! grep -q verdict "$work/out" || complain "a column of verdicts without one: $(head -3 "$work/out")"

# Where a table of a sweep is folded, each of its parts still says which points its rows are of.
cat >"$work/folded.yaml" <<Y
base: $config
set: {workload.requests: 100}
figures:
  latency: {is: dma_write_mean_ns, title: mean latency of a write, unit: ns}
  goodput: {is: up_goodput_gbps, title: goodput of all writes, unit: Gb/s}
columns: [latency, goodput]
blocks:
- name: writes_of_a_device
  axes: {workload.payload: [64B, 256B], link.identity: [bdf_pasid, dhi]}
  summary: [{workload.payload: [64B, 256B]}]
Y
expect 0 sweep plan "$work/folded.yaml" -o "$work/folded"
if has_terminal; then
  on_terminal 80 sweep run "$work/folded.yaml" -o "$work/folded"
  [[ ! -s $work/wide ]] || complain "a folded table on 80 columns: $(head -3 "$work/wide")"
  for point in bdf_pasid dhi; do
    [[ $(grep -cw "$point" "$work/lines") == 4 ]] || complain "a part of a folded table has no row $point: $(cat "$work/lines")"
  done
fi

# A deadlock that would come before what is waited for by design: both keys and both times are named.
refuse 2 run "$config" --set run.deadlock_after=100us --set device.timing.completion_timeout=200us
said "a run without progress counts as a deadlock after 100us, but a request without completion gives up after 200us"
refuse 2 run "$config" --set run.deadlock_after=20us --set host.timing.completion_timeout=10us --set device.timing.completion_timeout=10us --set link.timing.retrain=30us
said "link.timing.retrain alone takes 30us; expected run.deadlock_after of at least 30us"

# Figures without points are shown of all points; points without figures show nothing, and are refused.
sed -i '/^summary/d' "$work/study.yaml"
expect 0 check "$work/study.yaml"
sed -i 's/^columns.*/summary: [{workload.payload: 64B}]/' "$work/study.yaml"
refuse 2 sweep plan "$work/study.yaml" -o "$work/none"
said "points of a summary that has no figures; expected columns: [FIGURE, ...]"

# A column has one meaning, and no figure needs itself: both are told before anything runs.
printf 'base: %s\nfigures: {up_tlps: {is: 7}}\naxes: {workload.payload: [64B]}\n' "$config" >"$work/taken.yaml"
for command in "check" "sweep run -o $work/none"; do
  refuse 2 $command "$work/taken.yaml"
  said "taken.yaml:2:11: figures.up_tlps: results have a column 'up_tlps' already; expected another name"
done
sed -i 's/^figures.*/figures: {a: {is: b}, b: {is: 2 * a}}/' "$work/taken.yaml"
refuse 2 check "$work/taken.yaml"
said "taken.yaml:2:11: figures.a: figures in a circle: a, b, a; expected"

# What a study names has to be there: all mistakes are told together, each at its word.
cat >"$work/names.yaml" <<Y
title: names
base: $config
set: {workload.requests: 200}
figures:
  f: {is: 2 * dhi_hitz + ats_hits, title: f}
columns: [g]
blocks:
- name: b
  axes: {workload.payload: [64B, 128B]}
  baseline: {where: {workload.paylod: 64B}, match: [link.identity]}
  plots:
  - {title: p, x: nosuch, figure: f}
- name: c
  axes: {workload.payload: [64B, 128B]}
  baseline: {where: {workload.payload: 256B}, match: []}
Y
for command in "check" "sweep run -o $work/none"; do
  refuse 2 $command "$work/names.yaml"
  said "names.yaml:5:15: figures.f.is: no result, axis, label or figure has a column 'dhi_hitz'"
  said "nearest column 'dhi_hits'"
  said "names.yaml:6:11: columns: block b has no figure 'g'; expected f"
  said "names.yaml:10:22: blocks[0].baseline.where: no result, axis, label or figure has a column 'workload.paylod'"
  said "nearest column 'workload.payload'"
  said "names.yaml:10:53: blocks[0].baseline.match: no result"
  said "names.yaml:12:19: blocks[0].plots.x: no result"
  said "names.yaml:15:40: blocks[1].baseline.where.workload.payload: no point of block c has workload.payload '256B'; expected 64B or 128B"
  grep -q ats_hits "$work/err" && complain "a column of machines with caches is refused: $(cat "$work/err")"
done

# figures: of all points where no summary chooses some. A folder belongs to a study: that of its file or its title.
printf 'title: one\nbase: %s\nset: {workload.requests: 200}\nfigures: {f: {is: 2 * up_tlps, title: twice}}\ncolumns: [f]\naxes: {workload.payload: [64B]}\n' "$config" >"$work/one.yaml"
expect 0 sweep run "$work/one.yaml" -o "$work/owned"
printed "twice"
sed 's/64B/64B, 128B/; s/twice/double/' "$work/one.yaml" >"$work/moved.yaml"
expect 0 sweep run "$work/moved.yaml" -o "$work/owned"
printed "double"
sed 's/title: one/title: two/' "$work/one.yaml" >"$work/two.yaml"
for command in plan run; do
  refuse 2 sweep "$command" "$work/two.yaml" -o "$work/owned"
  said "is of another study: 'one' ("
  said "not 'two' ("
  said "expected another folder as -o"
done
sed -i 's/title: one/title: renamed/' "$work/moved.yaml"
expect 0 sweep run "$work/moved.yaml" -o "$work/owned"
rm "$work/owned/manifest.jsonl"
expect 0 sweep plan "$work/two.yaml" -o "$work/owned"
finish
