# --trace perfetto, vcd, sqlite and pcapng of links: each held against the CSV trace and the results of the same run, by
# readers of their own.
. "$(dirname "$0")/program.sh"

traces=$(dirname "$0")/traces.py
# traced NAME CONFIG ARGUMENTS...: all traces of a run.
traced() {
  local name="$1"
  shift
  expect 0 run "$@" --json --set trace.capture=links --trace packets="$work/$name.csv" --trace perfetto="$work/$name.pftrace" \
    --trace vcd="$work/$name.vcd" --trace sqlite="$work/$name.db" --trace pcapng="$work/$name.pcapng"
  cp "$work/out" "$work/$name.json"
  for kind in perfetto=pftrace vcd=vcd sqlite=db pcapng=pcapng; do
    python3 "$traces" "${kind%=*}" "$work/$name.${kind#*=}" "$work/$name.csv" "$work/$name.json" >"$work/said" 2>&1 ||
      complain "$name: ${kind%=*}: $(tail -n 3 "$work/said" | head -c 600)"
  done
}
examples="$FLITWISE_SOURCE_DIR/configs/examples"
traced reads "$config" --set workload.kind=read --set workload.requests=2000 --set workload.domains=16 --set link.identity=bdf_pasid
traced writes "$config" --set workload.requests=3000 --set run.warmup=100 --set workload.domains=300 --set device.dhi.bits=4
traced errors "$config" --set workload.kind=read_write --set workload.requests=500 --set link.error_rate=1e-6
traced flits "$config" --set link.preset=gen6x16 --set workload.kind=read --set workload.requests=500
traced tree "$examples/switch_tree.yaml" --set workload.requests=200
traced lines "$examples/cxl_cache.yaml" --set workload.requests=200

# The same bytes again, and the same results without.
expect 0 run "$config" --json --set workload.kind=read --set workload.requests=2000 --set workload.domains=16 --set link.identity=bdf_pasid
cmp <(grep -v host_seconds "$work/out") <(grep -v host_seconds "$work/reads.json") || complain "traces change results"
for kind in pftrace vcd pcapng; do mv "$work/reads.$kind" "$work/first.$kind"; done
traced reads "$config" --set workload.kind=read --set workload.requests=2000 --set workload.domains=16 --set link.identity=bdf_pasid
for kind in pftrace vcd pcapng; do cmp "$work/reads.$kind" "$work/first.$kind" || complain "another $kind of the same run"; done

# Tools of others, where they are.
if command -v vcd2fst >/dev/null; then
  vcd2fst "$work/reads.vcd" "$work/reads.fst" >"$work/said" 2>&1 || complain "vcd2fst: $(head -c 300 "$work/said")"
fi

# Nothing is left of what cannot be kept, and what has no links is refused.
for kind in perfetto vcd sqlite; do
  refuse 2 run "$config" "${small[@]}" --quiet --trace "$kind=$work"
  refuse 2 run "$FLITWISE_SOURCE_DIR/configs/checks/srdma.yaml" --trace "$kind=$work/none"
done
refuse 2 run "$config" "${small[@]}" --quiet --trace perfetto=/dev/full
said "/dev/full"
finish
