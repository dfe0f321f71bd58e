# flitwise sweep run --engine slurm: 40 points in arrays of a Slurm of its own on this machine, of which one is killed
# and one fails; the sweep is left alone in between, and is complete in the end.
. "$(dirname "$0")/program.sh"

skip() { echo "skipped: $*"; exit 77; }
PATH="$PATH:/usr/sbin:/sbin"
[[ $EUID == 0 ]] || skip "Slurm's daemons need root to run jobs"
for daemon in slurmctld slurmd munged sbatch; do
  command -v "$daemon" >/dev/null || skip "no $daemon; scripts/setup installs slurm-wlm and munge"
done

# A cluster of one node that has nothing to do with any other on this machine. Time passes between a task and the next, so
# that more run at a time than there are cores.
node="$(uname -n)"
node="${node%%.*}"
cluster="$work/slurm"
mkdir -p "$cluster"/{munge,state,spool,run,log}
chmod 700 "$cluster/munge"
chmod 755 "$work"
dd if=/dev/urandom of="$cluster/munge/key" bs=1 count=1024 status=none
chmod 400 "$cluster/munge/key"
read -r ctld_port d_port < <(python3 -c '
import socket
ends = [socket.socket() for _ in "ab"]
for end in ends: end.bind(("127.0.0.1", 0))
print(*(end.getsockname()[1] for end in ends))')
cat >"$cluster/slurm.conf" <<C
ClusterName=flitwise
SlurmctldHost=$node(127.0.0.1)
SlurmUser=root
AuthType=auth/munge
AuthInfo=socket=$cluster/run/munge
SlurmctldPort=$ctld_port
SlurmdPort=$d_port
StateSaveLocation=$cluster/state
SlurmdSpoolDir=$cluster/spool
SlurmctldPidFile=$cluster/run/slurmctld.pid
SlurmdPidFile=$cluster/run/slurmd.pid
SlurmctldLogFile=$cluster/log/slurmctld.log
SlurmdLogFile=$cluster/log/slurmd.log
SlurmdParameters=config_overrides
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
AccountingStorageType=accounting_storage/none
JobAcctGatherType=jobacct_gather/none
MpiDefault=none
ReturnToService=2
SchedulerParameters=sched_min_interval=0,bf_interval=1
MaxArraySize=25
NodeName=$node NodeAddr=127.0.0.1 CPUs=8 State=UNKNOWN
PartitionName=all Nodes=ALL Default=YES MaxTime=INFINITE State=UP
C
export SLURM_CONF="$cluster/slurm.conf"

stop() {
  local file pid pids=()
  [[ -z ${holder-} ]] || kill "$holder" 2>/dev/null
  for file in run/slurmctld.pid run/slurmd.pid munge/pid; do
    [[ ! -s $cluster/$file ]] || pids+=("$(<"$cluster/$file")")
  done
  for pid in "${pids[@]}"; do
    kill "$pid" 2>/dev/null
    for _ in {1..100}; do
      kill -0 "$pid" 2>/dev/null || break
      sleep 0.1
    done
  done
  rm -rf -- "$work"
}
trap stop EXIT

munged --key-file="$cluster/munge/key" --socket="$cluster/run/munge" --pid-file="$cluster/munge/pid" \
  --log-file="$cluster/munge/log" --seed-file="$cluster/munge/seed" || skip "munged does not start"
slurmctld || skip "slurmctld does not start"
slurmd -N "$node" || skip "slurmd does not start: $(tail -1 "$cluster/log/slurmd.log")"
for _ in {1..100}; do
  [[ $(sinfo -h -o %t 2>/dev/null) == idle ]] && break
  sleep 0.1
done
[[ $(sinfo -h -o %t 2>/dev/null) == idle ]] || skip "the node is $(sinfo -h -o %t 2>&1): $(tail -1 "$cluster/log/slurmd.log")"

# Points 0 to 38 are quick; 39 reads a trace. Slurm takes arrays of 25.
echo 'time_ns,domain,op,address,bytes' >"$work/trace.csv"
for i in {1..20}; do echo "$((i * 100)),0,write,0x100000000,64"; done >>"$work/trace.csv"
cat >"$work/study.yaml" <<Y
base: $config
set: {workload.requests: 100, run.warmup: 0}
blocks:
- {name: sizes, axes: {workload.payload: {range: 64B..216B:+4B}}}
- {name: trace, set: {workload.kind: trace, workload.trace: $work/trace.csv}, axes: {workload.payload: [64B]}}
Y
expect 0 sweep plan "$work/study.yaml" -o "$work/s"
printed "40 points"
mv "$work/trace.csv" "$work/taken"  # this point fails
log="$work/s/logs/$(python3 -c '
import json, sys
print([json.loads(line)["id"] for line in open(sys.argv[1])][7])' "$work/s/manifest.jsonl").log"
touch "$log"
(exec 9>>"$log" && flock 9 && exec sleep 100) &  # this one waits for a process that seems to run it
holder=$!

# Ctrl-C leaves the jobs alone.
"$FLITWISE" sweep run "$work/s" --engine slurm --retries 0 --progress json >"$work/out" 2>"$work/err" </dev/null &
sweep=$!
for _ in {1..150}; do
  grep -q "process" "$log" && grep -q '"done":38' "$work/err" && break
  sleep 0.1
done
kill -INT "$sweep"
wait "$sweep"
[[ $? == 130 ]] || complain "after Ctrl-C: exit code $?, expected 130"
said "submitted 25 tasks as job"
said "submitted 15 tasks as job"
said "to go on: flitwise sweep resume $work/s"
said "to end them: scancel"
expect 4 sweep status "$work/s"
printed "1 task in the queue of Slurm"

# The one that waits is still there; killed, it has no result, like the one that fails.
victim="$(sed -n 's/.*process \([0-9]*\)$/\1/p' "$log" | tail -1)"
(sleep 1; kill -9 "$victim") &
expect 4 sweep resume "$work/s"
said "1 task of this sweep in the queue already"
said "submitted 1 task as job"
said "point 7 ("
said "point 39 ("
printed "38 rows"
grep -q "ended by signal 9" "$log" || complain "the log does not name the signal: $(cat "$log")"

# Both heal; nothing else runs again.
mv "$work/taken" "$work/trace.csv"
kill "$holder" && wait "$holder" 2>/dev/null
seen() { stat -c '%n %i %Y' "$work"/s/points/*.json; }
seen >"$work/before"
expect 0 sweep resume "$work/s"
said "submitted 1 task"
printed "40 rows"
[[ $(seen | comm -23 "$work/before" - | wc -l) == 0 ]] || complain "points ran again"

# Several points a task; a time limit ends none of them.
expect 0 sweep run "$config" --axis workload.payload=64B..80B:+4B "${small[@]}" -o "$work/k" --engine slurm \
  --points-per-task 2 --timeout 10m -j 2
said "submitted 3 tasks as job"
printed "5 rows"
finish
