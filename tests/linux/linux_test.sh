# A Linux kernel drives the machine: what scripts/linux has built, without which this is skipped.
. "$(dirname "$0")/../cli/program.sh"
cd "$FLITWISE_SOURCE_DIR" || exit 1
for file in linux initrd.gz flitwise.dtb; do
  if [[ ! -e build/linux/$file ]]; then
    echo "no build/linux/$file: run scripts/linux"
    exit 77
  fi
done

# The tour: the tree, a file there and back, a table; the same bytes in a trace of a second run.
for run in first second; do
  expect 0 linux --set device.ring.memory=1MiB --trace "pcapng=$work/$run.pcapng"
  tr -d '\r' <"$work/out" | sed -n '/^== Linux/,$p' >"$work/$run"
done
printed '\-[0000:01]---01.0-[02]----00.0'
printed 'Kernel driver in use: flitwise'
[[ $(sed -n 's/^\(sent\|received\) *\([0-9a-f]\{64\}\)$/\2/p' "$work/first" | sort | uniq -c | awk '{ print $1 }') == 2 ]] ||
  complain "the file is not the same: $(grep -E '^(sent|received)' "$work/first")"
[[ $(grep -cE '^ *[0-9]+ +(1|4|16|64) +(interrupt|poll) +[1-9][0-9]* ' "$work/first") == 32 ]] || complain "no table of 32 rows"
cmp -s "$work/first" "$work/second" || complain "the console of a second run differs"
cmp -s "$work/first.pcapng" "$work/second.pcapng" || complain "the trace of a second run differs"

# Switches, virtual functions, a reset in the midst of work, and the exit code of what was run.
cat >"$work/functions.sh" <<'S'
lspci -n
pf=/sys/bus/pci/devices/$(basename "$(readlink -f /sys/class/misc/flitwise0/device)")
echo 2 >$pf/sriov_numvfs
echo "with VFs $(lspci -n -d f17d:2 | wc -l)"
echo 0 >$pf/sriov_numvfs
echo "without $(lspci -n -d f17d:2 | wc -l)"
echo written | dd of=/dev/flitwise0 bs=8 conv=sync 2>/dev/null
echo 1 >$pf/reset && echo "reset"
dd if=/dev/flitwise0 bs=8 count=1 2>/dev/null | cat -v
exit 7
S
expect 1 linux --run "$work/functions.sh" --set device.functions.count=4 --set system.topology=switch --set system.devices=2
printed "03:01.0 0604: f17d:0106"
printed "with VFs 2"
printed "without 0"
printed "reset"
printed "written"
said "ended with exit code 7"

# A kernel that panics ends the run, with its last words; a file that is not there is named.
echo "no file system" | gzip >"$work/initrd.gz"
expect 3 linux --initrd "$work/initrd.gz"
printed "Kernel panic - not syncing"
said "Call Trace"
refuse 2 linux --kernel "$work/none"
said "scripts/linux builds"

finish
