# Shared by the scripts beside it (sourced, not run): the project root and quiet steps with a log.
# shellcheck shell=bash
root="$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")/.." && pwd)"

say() { printf '%s\n' "$*" >&2; }
die() {
  say "error: $*"
  exit 1
}

# The comment under a script's first line is its help.
usage() { awk 'NR > 1 { if (!/^#/) exit; sub(/^# ?/, ""); print }' "$1"; }

# step TITLE LOG COMMAND...: runs COMMAND with its output in LOG. On a terminal one line shows how far
# it is; the log's end is printed only when the command fails.
step() {
  local title="$1" log="$2" status=0
  shift 2
  mkdir -p -- "$(dirname -- "$log")"
  if [[ -t 2 ]]; then
    "$@" 2>&1 </dev/null | tee -- "$log" | show_progress "$title" || status=$?
    printf '\r\033[K' >&2
  else
    "$@" >"$log" 2>&1 </dev/null || status=$?
  fi
  if [[ $status -ne 0 ]]; then
    tail -n 40 -- "$log" >&2
    say "error: $title failed (exit code $status); the whole log is $log"
  fi
  return "$status"
}

# Reads lines such as "[12/80] Building ..." or " 3/90 Test #3: ..." and keeps the count on one line.
show_progress() {
  local title="$1" line
  printf '%s ...' "$title" >&2
  while IFS= read -r line; do
    if [[ $line =~ ^\ *\[?([0-9]+/[0-9]+)[\]\ ] ]]; then
      printf '\r\033[K%s %s' "$title" "${BASH_REMATCH[1]}" >&2
    fi
  done
}

# configure_and_build PRESET [CMAKE OPTION]...: leaves the tree of that preset built in build/PRESET.
configure_and_build() {
  local preset="$1"
  shift
  local logs="$root/build/$preset/logs"
  step "Configuring build/$preset" "$logs/configure.log" \
    env -C "$root" cmake --preset "$preset" "$@" || return 1
  step "Building build/$preset" "$logs/build.log" \
    cmake --build "$root/build/$preset" --parallel "$(nproc)" || return 1
}

# Families of rules that docs/rules states: those whose ids are joined with a dash, and all of them as ids start.
# No rule is of ATS, SRDMA or IOMMU: "ATS 3.2" is a section of that text, and to cite it as a rule is refused.
# shellcheck disable=SC2034
dashed_families='LNK|PIO|HCA|ATR|TCP|SFE|INV|PRI|CFG|PAS|IQU|SEC|ORA|IOM|CXL|COH|ROCE|VB|PS|RX|LR|CC|HP|EP|RDM|NW|SG|HS|KY|SEL|TX|MO|CT|WT|RC'
# shellcheck disable=SC2034
rule_families='LNK-|DHI-|PIO-|HCA-|ATR-|TCP-|SFE-|INV-|PRI-|CFG-|PAS-|IQU-|SEC-|ORA-|IOM-|CXL-|COH-|ROCE-|VB-|PS-|RX-|LR-|CC-|HP-|EP-|RDM-|NW-|SG-|HS-|KY-|SEL-|TX-|MO-|CT-|WT-|RC-|DHI |ATS |SRDMA |IOMMU '
