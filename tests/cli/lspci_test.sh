# flitwise run --config-space: what Debian's lspci reads out of the dump, of each kind of function with every capability on.
. "$(dirname "$0")/program.sh"
command -v lspci >/dev/null || complain "no lspci: scripts/setup installs pciutils"
ids=/usr/share/misc/pci.ids

# Whose number the Vendor ID is: nobody's that the list knows, be it of functions or of subsystems.
vendor="$(sed -n 's/^inline constexpr std::uint16_t kModelVendor = 0x\(....\);/\1/p' "$FLITWISE_SOURCE_DIR/include/flitwise/ids.h")"
[[ $vendor =~ ^[0-9a-f]{4}$ ]] || complain "no kModelVendor in include/flitwise/ids.h"
grep -qE '^8086 ' "$ids" || complain "$ids is not the list of vendors"
! grep -qE "^$vendor |^		$vendor " "$ids" || complain "the Vendor ID $vendor belongs to somebody: $(grep -E "^$vendor " "$ids")"

# dump FILE ARGUMENTS...: a run that writes FILE; $work/functions, and $work/FUNCTION.txt for each, are what lspci says.
dump() {
  local file="$1" function
  shift
  expect 0 run "$@" --set workload.requests=10 --quiet --config-space "$work/$file"
  lspci -F "$work/$file" -nn >"$work/functions" 2>/dev/null || complain "lspci does not read $file"
  rm -f "$work"/*.txt
  while read -r function _; do
    lspci -F "$work/$file" -vvv -s "$function" >"$work/$function.txt" 2>/dev/null
  done <"$work/functions"
  ! grep -HniE 'chain (looped|broken)|unknown|denied|!!!|\?\?\?' "$work"/*.txt || complain "$file: lspci is at a loss"
}
# has FUNCTION TEXT...: lspci says each TEXT of it.
has() {
  local function="$1" text
  shift
  for text in "$@"; do
    grep -qF -- "$text" "$work/$function.txt" || complain "lspci does not say '$text' of $function"
  done
}
# capabilities FUNCTION COUNT: so many, and the dump has no other byte beyond the header outside of them.
capabilities() {
  [[ $(grep -c 'Capabilities: \[' "$work/$1.txt") == "$2" ]] || complain "$1: $(grep -c 'Capabilities: \[' "$work/$1.txt") capabilities, expected $2"
}

every=(--set device.atc.enabled=true --set device.pri.enabled=true --set iommu.translation=first_stage --set link.identity=dhi)
dump direct "$config" "${every[@]}" --set device.functions.count=3
[[ $(cut -d' ' -f1 "$work/functions" | tr '\n' ' ') == "00:01.0 01:00.0 01:00.1 01:00.2 " ]] || complain "other functions: $(cat "$work/functions")"
grep -qF "00:01.0 PCI bridge [0604]: Device [$vendor:0104] (rev 01)" "$work/functions" || complain "root port: $(head -1 "$work/functions")"
grep -qF "01:00.0 Ethernet controller [0200]: Device [$vendor:0001] (rev 01)" "$work/functions" || complain "PF: $(sed -n 2p "$work/functions")"
has 00:01.0 'Express (v2) Root Port' 'Power Management version 3' 'Advanced Error Reporting' 'Access Control Services' \
  'Bus: primary=00, secondary=01, subordinate=01' 'Speed 32GT/s, Width x16' 'MaxPayload 256 bytes, MaxReadReq 512 bytes' 'DLActive+' 'BusMaster+' \
  'ACSCap:	SrcValid+' "Designated Vendor-Specific: Vendor=$vendor ID=0001 Rev=0 Len=28"
capabilities 00:01.0 5
has 01:00.0 "Subsystem: Device $vendor:0001" 'Express (v2) Endpoint' 'Power Management version 3' 'MSI-X: Enable- Count=32' 'FLReset+' 'BusMaster+' \
  'Advanced Error Reporting' 'Alternative Routing-ID Interpretation (ARI)' 'Single Root I/O Virtualization (SR-IOV)' 'Number of VFs: 2' 'VF offset: 1, stride: 1' \
  'Address Translation Service (ATS)' 'ATSCtl:	Enable+' 'Process Address Space ID (PASID)' 'Max PASID Width: 14' 'PASIDCtl: Enable+' \
  'Page Request Interface (PRI)' 'PRICtl: Enable+' 'MaxPayload 256 bytes, MaxReadReq 512 bytes' '10BitTagReq+' \
  'Region 0: Memory at 10000000000 (64-bit, prefetchable)' "Designated Vendor-Specific: Vendor=$vendor ID=0001 Rev=0 Len=28"
capabilities 01:00.0 10
for vf in 01:00.1 01:00.2; do  # its own ids read FFFF
  has "$vf" "Subsystem: Device $vendor:0001" 'Express (v2) Endpoint' 'MSI-X: Enable- Count=32' 'FLReset+' 'BusMaster+' 'Advanced Error Reporting' \
    'Alternative Routing-ID Interpretation (ARI)' 'Address Translation Service (ATS)' 'ATSCtl:	Enable+' 'CorrErr- NonFatalErr- FatalErr- UnsupReq-' \
    'RlxdOrd- ExtTag- PhantFunc- AuxPwr- NoSnoop- FLReset-' 'MaxPayload 128 bytes, MaxReadReq 128 bytes' '10BitTagReq-'
  capabilities "$vf" 5
done
[[ $(grep -c '^ff0:' "$work/direct") == 4 ]] || complain "a function of the dump has other than 4,096 bytes"

dump switch "$FLITWISE_SOURCE_DIR/configs/examples/switch_two_devices.yaml"
[[ $(cut -d' ' -f1 "$work/functions" | tr '\n' ' ') == "00:01.0 01:00.0 02:00.0 02:01.0 03:00.0 04:00.0 " ]] || complain "other functions: $(cat "$work/functions")"
has 00:01.0 'Express (v2) Root Port' 'Bus: primary=00, secondary=01, subordinate=04'
has 01:00.0 'Express (v2) Upstream Port' 'Advanced Error Reporting' 'Bus: primary=01, secondary=02, subordinate=04'
has 02:01.0 'Express (v2) Downstream Port' 'Access Control Services' 'ACSCtl:	SrcValid+' 'Bus: primary=02, secondary=04, subordinate=04'
has 04:00.0 'Express (v2) Endpoint' 'Speed 16GT/s'

# The dump is of the machine before its work; it changes nothing, and what has no configuration space is refused.
figures() { "$FLITWISE" run "$config" "${small[@]}" --json --quiet "$@" | grep -v host_seconds | sha256sum; }
[[ $(figures) == "$(figures --config-space "$work/again")" ]] || complain "--config-space changes the results"
refuse 2 run "$FLITWISE_SOURCE_DIR/configs/checks/bit_packed.yaml" --set workload.requests=10 --config-space "$work/none"
said "link.carrier"
refuse 2 run "$config" "${small[@]}" --quiet --config-space "/proc/no/such/folder"
finish
