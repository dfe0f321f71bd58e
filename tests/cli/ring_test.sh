# The descriptor ring of a device, driven line by line as a driver does.
. "$(dirname "$0")/program.sh"

ring=(--set device.ring.memory=1MiB)
registers=0x10000001000 # of the default machine
reg() { printf '0x%x' $((registers + $1)); }
poke() { echo "{\"op\":\"poke\",\"addr\":\"$1\",\"hex\":\"$2\"}"; }
write() { echo "{\"op\":\"mmio_write\",\"addr\":\"$1\",\"u32\":\"$2\"}"; }
read_reg() { echo "{\"op\":\"mmio_read\",\"addr\":\"$(reg "$1")\",\"id\":\"$2\"}"; }
run() { echo '{"op":"run","until":"idle"}'; }
control() { echo "{\"op\":\"cfg_write\",\"bdf\":\"01:00.0\",\"offset\":\"0x4a\",\"bytes\":2,\"value\":\"$1\"}"; }
# little BYTES NUMBER: its hex digits, lowest byte first.
little() {
  local i
  for ((i = 0; i < $1; i++)); do printf '%02x' $(($2 >> 8 * i & 255)); done
}
# descriptor HOST DEVICE BYTES FLAGS
descriptor() { echo "$(little 8 "$1")$(little 8 "$2")$(little 4 "$3")$(little 4 "$4")"; }
# start ADDRESS: eight entries there.
start() {
  write "$(reg 0x10)" "$1"
  write "$(reg 0x14)" "${2-0}"
  write "$(reg 0x18)" 8
  write "$(reg 0x4)" 1
}
# vector NUMBER MASK: tells 2Ah at the interrupt window.
vector() { echo "{\"op\":\"mmio_write\",\"addr\":\"$(printf '0x%x' $((0x10000004000 + 16 * $1)))\",\"hex\":\"0000e0fe000000002a000000$(little 4 "$2")\"}"; }

# The example of the page prints what stands there.
page="$FLITWISE_SOURCE_DIR/docs/descriptor_ring.md"
awk '/^\$ cat ring.jsonl$/ { on = 1; next } /^\$ / { on = 0 } on' "$page" >"$work/ring.jsonl"
awk '/^\$ flitwise script ring.jsonl/ { on = 1; next } /^```/ { on = 0 } on' "$page" >"$work/expected"
[[ $(wc -l <"$work/ring.jsonl") -gt 9 ]] || complain "docs/descriptor_ring.md has lost its example"
expect 0 script "$work/ring.jsonl" "${ring[@]}"
cmp -s "$work/out" "$work/expected" || complain "the example of docs/descriptor_ring.md prints: $(cat "$work/out")"

# Interrupts wait while their vector or the function is masked, and come once neither is.
{
  control 0xc000
  vector 1 1
  write "$(reg 0xc)" 1
  poke 0x1000 "$(descriptor 0x2000 0 64 5)"
  start 0x1000
  write "$(reg 0x1c)" 1
  run
  echo '{"op":"mmio_read","addr":"0x10000006000","id":"pending"}'
  control 0x8000
  run
  echo '{"op":"peek","addr":"0","bytes":1,"id":"function open"}'
  vector 1 0
  run
  echo '{"op":"mmio_read","addr":"0x10000006000","id":"sent"}'
} >"$work/masked.jsonl"
expect 0 script "$work/masked.jsonl" "${ring[@]}"
printed '{"event":"data","id":"pending","hex":"02000000"}'
printed '{"event":"data","id":"sent","hex":"00000000"}'
[[ $(sed '/function open/,$d' "$work/out" | grep -c '"interrupt"') == 0 ]] || complain "a masked vector tells: $(cat "$work/out")"
[[ $(grep -c '"event":"interrupt"' "$work/out") == 1 ]] || complain "no interrupt, or several: $(cat "$work/out")"

# 12,000 bytes at odd addresses, which are many TLPs, there and back.
chunk="$(for ((i = 0; i < 4096; i++)); do printf '%02x' $((i * 7 + i / 251 & 255)); done)"
{
  for ((i = 0; i < 3; i++)); do poke $((0x10000 + 4096 * i)) "$chunk"; done
  poke 0x1000 "$(descriptor 0x10001 0x7 12000 1)"
  poke 0x1040 "$(descriptor 0x20003 0x7 12000 2)"
  start 0x1000
  write "$(reg 0x1c)" 1
  run
  write "$(reg 0x1c)" 2
  run
  echo '{"op":"peek","addr":"0x10001","bytes":12000,"id":"there"}'
  echo '{"op":"peek","addr":"0x20003","bytes":12000,"id":"back"}'
  read_reg 0x20 head
} >"$work/large.jsonl"
expect 0 script "$work/large.jsonl" "${ring[@]}"
bytes_of() { sed -n "s/.*\"event\":\"data\",\"id\":\"$1\",\"hex\":\"\([0-9a-f]*\)\".*/\1/p" "$work/out"; }
[[ $(bytes_of there | wc -c) == 24001 && $(bytes_of there) == "$(bytes_of back)" ]] ||
  complain "12,000 bytes have not come back as they were"
printed '"id":"head","hex":"02000000"'

# A ring that is nowhere halts; what is not valid is written back; both are counted.
{
  start 0 0x7000
  write "$(reg 0x1c)" 1
  run
  read_reg 0x8 halted
  write "$(reg 0x4)" 0
  poke 0x1000 "$(descriptor 0x2000 0x100000 64 1)"
  start 0x1000
  write "$(reg 0x1c)" 1
  run
  echo '{"op":"peek","addr":"0x1030","bytes":4,"id":"bad"}'
  write "$(reg 0x1c)" 12
  read_reg 0x8 refused
} >"$work/failed.jsonl"
expect 0 script "$work/failed.jsonl" "${ring[@]}"
printed '"id":"halted","hex":"02000000"'
printed '"id":"bad","hex":"02000000"'
printed '"id":"refused","hex":"05000000"'

# A reset of the function in the midst of a copy ends it; the ring begins anew, and nothing of before comes behind it.
{
  poke 0x1000 "$(descriptor 0x100000 0 1000000 2)$(little 16 0)"
  start 0x1000
  write "$(reg 0x1c)" 1
  echo '{"op":"run","for":"3us"}'
  echo '{"op":"cfg_write","bdf":"01:00.0","reg":"DEVICE_CONTROL","value":"0xa93f"}'
  run
  echo '{"op":"cfg_write","bdf":"01:00.0","offset":"0x14","value":"0x100"}'
  echo '{"op":"cfg_write","bdf":"01:00.0","reg":"COMMAND","value":"0x6"}'
  read_reg 0x8 after
  read_reg 0x10 base
  poke 0x1040 "$(descriptor 0x3000 0 64 2)"
  start 0x1040
  write "$(reg 0x1c)" 1
  run
  echo '{"op":"peek","addr":"0x1030","bytes":4,"id":"before"}'
  echo '{"op":"peek","addr":"0x1070","bytes":4,"id":"anew"}'
} >"$work/reset.jsonl"
expect 0 script "$work/reset.jsonl" "${ring[@]}"
printed '"id":"after","hex":"00000000"'
printed '"id":"base","hex":"00000000"'
printed '"id":"before","hex":"00000000"'
printed '"id":"anew","hex":"01000000"'

# It takes a BAR with room for its registers.
refuse 2 script "$work/ring.jsonl" "${ring[@]}" --set device.functions.bar_size=8KiB
said "expected device.functions.bar_size of at least 32KiB"

# A run without software that drives it has a row of zeros, and the figures of one without a ring.
expect 0 run "$config" "${small[@]}" "${ring[@]}" --json
grep -q '"rings"' "$work/out" || complain "no row of rings"

finish
