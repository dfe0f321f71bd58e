# A sweep that is killed at random moments (KILLS of them) and resumed each time ends with the same database as one that
# was left alone, and runs no finished point again.
. "$(dirname "$0")/program.sh"
KILLS="${KILLS:-3}"
RANDOM="${SEED:-28}"

cat >"$work/study.yaml" <<Y
base: $config
set: {workload.requests: 100, run.warmup: 0}
seeds: [1, 2]
axes: {link.identity: [bdf_pasid, dhi], workload.payload: {range: 64B..140B:+4B}}
Y

# same_rows A B: all tables agree, but for the time that runs took.
same_rows() {
  python3 - "$@" <<'P'
import sqlite3, sys
def tables(folder):
    data = sqlite3.connect(folder + "/results.sqlite")
    for (table,) in data.execute("SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name").fetchall():
        if table == "study":
            continue
        columns = [column[1] for column in data.execute(f"PRAGMA table_info({table})") if "host_seconds" not in column[1]]
        yield table, columns, data.execute("SELECT " + ", ".join(f'"{c}"' for c in columns) + f" FROM {table}").fetchall()
one, other = (list(tables(folder)) for folder in sys.argv[1:])
sys.exit(one != other or not one)
P
}

# All results are whole, though the sweep and its points were killed a moment ago.
all_whole() {
  python3 - "$1" <<'P'
import glob, json, sys
for path in glob.glob(sys.argv[1] + "/points/*.json"):
    assert json.load(open(path))["point"]["id"] in path
P
}

ran_twice() { grep -c 'done in' "$1"/logs/*.log | grep -cv ':[01]$'; }

expect 0 sweep run "$work/study.yaml" -o "$work/whole" -j 2
folder=1
for ((kill = 0; kill < KILLS; ++kill)); do
  setsid "$FLITWISE" sweep run "$work/study.yaml" -o "$work/$folder" -j 2 --progress none >"$work/out" 2>&1 &
  sweep=$!
  sleep "0.$((RANDOM % 5))$((RANDOM % 10))"
  # The sweep alone, whose points go on, or all of them.
  if ((RANDOM % 2)); then kill -9 "$sweep" 2>/dev/null; else kill -9 -- "-$sweep" 2>/dev/null; fi
  wait "$sweep" 2>/dev/null
  all_whole "$work/$folder" || complain "kill $kill left half a result"
  if [[ -s $work/$folder/results.sqlite ]]; then  # it was faster
    same_rows "$work/whole" "$work/$folder" || complain "rows differ after kill $kill"
    folder=$((folder + 1))
  fi
done
expect 0 sweep run "$work/study.yaml" -o "$work/$folder" -j 2
expect 0 sweep resume "$work/$folder"
said "80 had a result"
same_rows "$work/whole" "$work/$folder" || complain "rows differ in the end"
for ((i = 1; i <= folder; ++i)); do
  [[ $(ran_twice "$work/$i") == 0 ]] || complain "points of folder $i ran twice: $(grep -c 'done in' "$work/$i"/logs/*.log | grep -v ':[01]$')"
done
finish
