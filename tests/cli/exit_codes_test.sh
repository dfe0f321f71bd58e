# Exit codes are exactly those of the contract, and a refusal writes nothing to stdout.
. "$(dirname "$0")/program.sh"

refuse 64
refuse 64 frobnicate
said "unknown command 'frobnicate'; expected run, check,"
refuse 64 swep run "$config"
said "unknown command 'swep'; did you mean sweep?"
refuse 64 sweep statsu "$work"
said "unknown command 'statsu'; did you mean status? expected plan, run,"
refuse 64 run
refuse 64 run "$config" --no-such-option
refuse 64 run "$config" --seed many
refuse 64 run "$config" --seed -1
refuse 64 conform --campaign 1 --seed 18446744073709551616
said "expected a whole number from 0 to 18446744073709551615"
refuse 64 list everything
refuse 64 run "$config" --trace pictures=x
said "packets"
refuse 64 run "$config" --trace packets
refuse 64 sweep
refuse 64 sweep run "$config"
refuse 64 completion fish
refuse 64 bench --case nothing

refuse 2 run "$work/missing.yaml"
refuse 2 run "$config" --set link.mpss=128B
said "link.mps"
refuse 2 run "$config" --set link.mps=128
refuse 2 check "$work/missing.yaml"
refuse 2 conform "$work/missing.yaml"
refuse 2 sweep resume "$work"
said "manifest.jsonl: no such file; expected a manifest of sweep plan"
refuse 64 run "$config" --jsn
said "Did you mean --json?"
refuse 2 sweep run "$config" --engine slurm -o "$work/o"
# What Slurm says is one line, however many it has.
mkdir "$work/bin"
for command in squeue sbatch scontrol; do
  printf '#!/bin/sh\necho no cluster; echo none at all; exit 1\n' >"$work/bin/$command"
  chmod +x "$work/bin/$command"
done
PATH="$work/bin:$PATH" refuse 4 sweep run "$config" --axis link.mps=128B --engine slurm -o "$work/slurm"
said "ended with exit code 1: no cluster; none at all"
refuse 2 sweep status "$work"
refuse 2 report "$work" -o "$work/r.html"
refuse 2 run "$config" "${small[@]}" -o /proc/no/such/folder
refuse 2 run "$config" "${small[@]}" --trace packets=/dev/full
said "/dev/full"
refuse 2 encode flit --set type=MRd
said "type: unknown key"
refuse 2 encode cxl --set type=MRd
said "flit: missing"
refuse 2 encode roce --set type=MRd
said "bth.opcode: missing"
refuse 2 decode tlp zz

printf 'link:\n  presett: gen3x8\n  identity: bdf+pasid\nworkload:\n  requests: many\n' >"$work/bad.yaml"
refuse 2 check "$config" "$work/bad.yaml"
[[ $(grep -cE 'bad\.yaml:[0-9]+:[0-9]+: ' "$work/err") == 3 ]] || complain "not all three problems: $(cat "$work/err")"

expect 0 check "$config"
printed "saturated.yaml: ok"
expect 0 --version
printed "flitwise "
printed ", link-time optimisation o"
printed ", profile "
printed ", for "
expect 0 --help
for command in run check schema list encode decode script conform sweep report bench completion; do
  expect 0 "$command" --help
  printed "Example:"
done
for part in plan run point task status merge resume; do
  expect 0 sweep "$part" --help
  printed "Example:"
done
for list in models workloads policies statistics features verbs; do
  expect 0 list "$list"
  [[ $(wc -l <"$work/out") -gt 2 ]] || complain "list $list is empty"
done
expect 0 schema
printed "device.dhi.bits"
expect 0 schema --markdown
expect 0 schema --json
python3 -c 'import json,sys; json.load(open(sys.argv[1]))' "$work/out" || complain "schema --json is no JSON"

# A file for another command says which; what is no YAML has its file in front, and no second problem.
refuse 2 run "$FLITWISE_SOURCE_DIR/configs/studies/dhi_vs_pasid.yaml"
said "a key of a sweep, which 'flitwise sweep run' takes"
refuse 2 check "$FLITWISE_SOURCE_DIR/tests/cases/config_space/workload_functions.yaml"
said "a key of a corner case, which 'flitwise conform' takes"
refuse 2 conform "$config"
said "a section of a config, which 'flitwise run' takes"
refuse 2 sweep plan "$config" -o "$work/no_sweep"
said "a section of a config, which 'flitwise run' takes"
printf 'base: %s\naxes:\n\tlink.mps: [128B]\n' "$config" >"$work/tab.yaml"
refuse 2 sweep plan "$work/tab.yaml" -o "$work/no_sweep"
said "tab.yaml:3:"
[[ $(wc -l <"$work/err") == 1 ]] || complain "a tab in a sweep: $(cat "$work/err")"
: >"$work/empty.yaml"
refuse 2 sweep plan "$work/empty.yaml" -o "$work/no_sweep"
said "empty.yaml:1:1: nothing"

# Output that cannot be written says why.
code=0
"$FLITWISE" run "$config" "${small[@]}" >/dev/full 2>"$work/err" || code=$?
[[ $code == 2 ]] || complain "a full device ended with $code"
said "No space left on device"

# A link that lets nothing through says what it holds back.
expect 3 run "$config" --set link.error_rate=0.1 --quiet
python3 - "$work/err" <<'P' || complain "nothing is said to wait: $(tail -c 300 "$work/err")"
import sys
text = open(sys.argv[1]).read()
assert "what waits:\n" in text and text.split("what waits:\n")[1].strip(), text
P
finish
