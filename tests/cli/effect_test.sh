# Keys without effect: which are said, and that what is said is true. A key that is said to have none is turned, and the
# result stays the same; a key of a configuration of configs/ that is not said is turned, and something changes.
. "$(dirname "$0")/program.sh"

# At its place, with the reason, on stderr alone; the run goes on.
expect 0 run "$config" "${small[@]}" --quiet --set workload.rate=1Mreq/s
said "--set workload.rate=1Mreq/s: warning: workload.rate has no effect because workload.arrival is closed_loop (it is read where workload.arrival is poisson, cbr or on_off and"
[[ ! -s $work/out ]] || complain "a quiet run with a warning writes to stdout"
for set in device.atc.enabled=true workload.zipf_exponent=1.2 device.dhi.bits=4; do
  expect 0 run "$config" "${small[@]}" --quiet --set "$set"
  said "warning: ${set%%=*} has no effect"
done
printf 'base: %s\nworkload:\n  requests: 100\n  burst: 8\n' "$config" >"$work/own.yaml"
for command in check "run --quiet"; do
  expect 0 $command "$work/own.yaml"
  said "own.yaml:4:10: warning: workload.burst has no effect because workload.arrival is closed_loop"
  [[ $(wc -l <"$work/err") == 1 ]] || complain "$command says more than that: $(cat "$work/err")"
done

# Once a study, at the place of the key there; not where a point reads it. A planned sweep has been told.
printf 'base: own.yaml\naxes:\n  device.dhi.bits: [2, 4]\n  workload.payload: [64B, 128B]\n' >"$work/study.yaml"
for command in check "sweep plan -o $work/sweep" "sweep run -o $work/sweep"; do
  expect 0 $command "$work/study.yaml"
  said "study.yaml:3:3: warning: device.dhi.bits has no effect because link.identity is bdf_pasid"
  [[ $(grep -c "no effect" "$work/err") == 1 ]] || complain "$command: $(cat "$work/err")"
done
expect 0 sweep plan "$work/study.yaml" -o "$work/other" --set link.identity=dhi
! grep -q "no effect" "$work/err" || complain "a key that each point reads: $(cat "$work/err")"

# check takes --set as run does: for a config, for each of several, and for every point of a sweep.
expect 0 check "$config" --set workload.rate=1Mreq/s
said "--set workload.rate=1Mreq/s: warning: workload.rate has no effect because"
refuse 2 check "$config" --set link.mps=257B
said "--set link.mps=257B: 257B; expected"
refuse 2 check "$config" "$work/own.yaml" --set link.mps=257B
said "saturated.yaml: --set link.mps=257B: 257B; expected"
said "own.yaml: --set link.mps=257B: 257B; expected"
expect 0 check "$config" "$work/own.yaml" --set workload.rate=1Mreq/s
said "own.yaml: --set workload.rate=1Mreq/s: warning: workload.rate has no effect because"
expect 0 check "$work/study.yaml" --set link.identity=dhi
! grep -q "no effect" "$work/err" || complain "check does not take --set for the points of a sweep: $(cat "$work/err")"
refuse 2 check "$work/study.yaml" --set link.identity=dhj
said "link.identity"

# What --config-space shows is an effect of its own. A script may turn anything on while it runs.
expect 0 run "$config" "${small[@]}" --quiet --set device.dhi.bits=4 --set workload.rate=1Mreq/s --config-space "$work/space"
said "workload.rate has no effect"
! grep -q "device.dhi.bits" "$work/err" || complain "a width that the capability shows is called without effect"
"$FLITWISE" script - --set device.dhi.bits=4 <<<'{"op":"run","for":"1us"}' >/dev/null 2>"$work/err" || complain "a script fails"
[[ ! -s $work/err ]] || complain "a script is warned: $(cat "$work/err")"

# All configurations that come with the program are without such keys.
expect 0 check "$FLITWISE_SOURCE_DIR"/configs/*/*.yaml
! grep "no effect" "$work/err" || complain "a configuration of configs/ has a key without effect"

python3 "$FLITWISE_SOURCE_DIR/tests/cli/effect.py" "$FLITWISE" "$FLITWISE_SOURCE_DIR/configs" "$work" || complain "effects are not as they are said"
finish
