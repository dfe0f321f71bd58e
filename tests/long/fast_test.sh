#!/usr/bin/env bash
# scripts/fast builds, trains and reports, the second time at once; and what it has built gives the results of this
# build, byte for byte but for the time that a run took: of each configuration and of up to 50 points of each study.
set -uo pipefail
cd -- "$FLITWISE_SOURCE_DIR" || exit 1
work="$(mktemp -d)"
trap 'rm -rf -- "$work"' EXIT
failures=0
fail() {
  echo "FAILED: $*"
  failures=$((failures + 1))
}

if [[ -n ${FLITWISE_FAST-} ]]; then
  fast="$FLITWISE_FAST"
else
  fast=build/fast/flitwise
  scripts/fast >"$work/report" || exit 1
  cat "$work/report"
  for config in configs/bench/*.yaml; do
    grep -q "^$(basename "$config" .yaml) .*%$" "$work/report" || fail "the report lacks $config"
  done
  trained="$(date -r build/fast-train/trained +%s.%N)"
  scripts/fast --no-bench >/dev/null || exit 1
  [[ $(date -r build/fast-train/trained +%s.%N) == "$trained" ]] || fail "it trained again for nothing"
  grep -q "no work to do" build/fast/logs/build.log || fail "it compiled again for nothing"
fi

# What it is for: 5 % fewer instructions a request at the least.
instructions() { # PROGRAM REQUESTS: of one run of $config
  valgrind --tool=callgrind --callgrind-out-file=/dev/null "$1" run "$config" --set workload.requests="$2" --quiet 2>&1 >/dev/null |
    sed -n 's/^==.*Collected : //p'
}
plain="${FLITWISE_PLAIN-build/release/flitwise}"
for config in configs/bench/{posted_write_64B,read_64B,flit_mode_posted_write_64B,iommu_walk4_read_64B}.yaml; do
  less=$(($(instructions "$fast" 25000) - $(instructions "$fast" 5000)))
  more=$(($(instructions "$plain" 25000) - $(instructions "$plain" 5000)))
  echo "$config: $((less / 20000)) instructions a request, $((more / 20000)) without a profile"
  [[ $less -gt 0 && $more -gt 0 ]] || fail "$config: a program ended under valgrind"
  [[ $((100 * less)) -lt $((95 * more)) ]] || fail "$config: no gain"
done

# outcome PROGRAM ARGUMENT...: stdout and the exit code, without the time that it took.
outcome() {
  local status=0
  "$@" 2>/dev/null || status=$?
  echo "exit code $status"
}
timeless() { sed '/"host_seconds":/d'; }
same() { # NAME ARGUMENT...
  local name="$1"
  shift
  outcome "$fast" "$@" | timeless >"$work/fast.json" &
  outcome "$FLITWISE" "$@" | timeless >"$work/plain.json"
  wait
  [[ $(wc -l <"$work/plain.json") -gt 20 ]] || fail "$name: no result"
  cmp -- "$work/fast.json" "$work/plain.json" || fail "$name: other results"
}

configs=0
while IFS= read -r config; do
  if [[ $config != configs/studies/* ]]; then
    same "$config" run "$config" --json
    configs=$((configs + 1))
    continue
  fi
  rm -rf -- "$work/plan"
  "$FLITWISE" sweep plan "$config" -o "$work/plan" >/dev/null 2>&1 || { fail "$config: no plan"; continue; }
  points=$(wc -l <"$work/plan/manifest.jsonl")
  for index in $(awk -v n="$points" 'BEGIN { k = n < 50 ? n : 50; for (i = 0; i < k; ++i) print int(i * n / k) }'); do
    rm -rf -- "$work/fast" "$work/plain"
    "$fast" sweep point --manifest "$work/plan/manifest.jsonl" --index "$index" --out "$work/fast" >/dev/null 2>&1 &
    "$FLITWISE" sweep point --manifest "$work/plan/manifest.jsonl" --index "$index" --out "$work/plain" >/dev/null 2>&1
    wait
    cat "$work"/plain/points/*.json >/dev/null || fail "$config, point $index: no result"
    cmp <(timeless <"$(echo "$work"/fast/points/*.json)") <(timeless <"$(echo "$work"/plain/points/*.json)") ||
      fail "$config, point $index: other results"
  done
  echo "$config: $points points, at most 50 compared"
done < <(find configs -name '*.yaml' | LC_ALL=C sort)
echo "$configs configurations compared, $failures failed"
[[ $failures -eq 0 ]]
