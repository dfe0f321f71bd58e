# A sweep of 1,000 short points on 2 cores spends less than 20 ms a point outside the simulation.
. "$(dirname "$0")/../cli/program.sh"
if "$FLITWISE" --version | grep -q Debug; then
  echo "skipped: the program is not optimised"
  exit 77
fi
cat >"$work/study.yaml" <<Y
base: $config
set: {workload.requests: 200, run.warmup: 0, workload.domains: 16}
axes: {link.identity: [bdf_pasid, dhi], workload.payload: {range: 64B..2060B:+4B}}
Y
start="$EPOCHREALTIME"
expect 0 sweep run "$work/study.yaml" -o "$work/s" -j 2
end="$EPOCHREALTIME"
python3 - "$work/s" "$start" "$end" <<'P' || complain "too much time outside the simulation"
import sqlite3, sys
points, seconds = sqlite3.connect(sys.argv[1] + "/results.sqlite").execute("SELECT count(*), sum(host_seconds) FROM point").fetchone()
wall = float(sys.argv[3]) - float(sys.argv[2])
each = (wall - seconds / 2) / points * 1000
print(f"{points} points in {wall:.1f} s, of which {seconds:.1f} s on a core simulated: {each:.1f} ms a point outside")
sys.exit(points != 1000 or each >= 20)
P
finish
