# flitwise script: lock-step with a driver, exit codes, and the example of docs/script.md.
. "$(dirname "$0")/program.sh"

# The program of the documentation runs as it stands there.
sed -n '/^```python$/,/^```$/p' "$FLITWISE_SOURCE_DIR/docs/script.md" | sed '1d;$d' >"$work/example.py"
[[ $(wc -l <"$work/example.py") -gt 20 ]] || complain "docs/script.md has lost its example"
mkdir "$work/bin" && ln -s "$FLITWISE" "$work/bin/flitwise"
PATH="$work/bin:$PATH" timeout 60 python3 "$work/example.py" >"$work/out" 2>&1 || complain "the example fails: $(cat "$work/out")"
printed "read in "

cat >"$work/good.jsonl" <<'L'
{"op":"poke","addr":"0x1000","u64":"0x1122334455667788","id":7}
{"op":"dma","port":"ep0","rid":"01:00.0","pasid":5,"at":"untranslated","kind":"read","addr":"0x1000","bytes":8,"id":"x"}
L
expect 0 script "$work/good.jsonl"
printed '{"event":"data","id":"x","hex":"8877665544332211"}'
printed '{"done":7,"t_ns":0.0}'
expect 0 script "$work/good.jsonl" --config "$FLITWISE_SOURCE_DIR/configs/checks/script.yaml" --set link.preset=gen3x8
printed '"hex":"8877665544332211"'

# A switch passes no hot reset on [LNK-N.1], so that none above or in one says that it is done.
printf '{"op":"reset","kind":"hot","bdf":"%s"}\n' 00:01.0 01:00.0 02:00.0 >"$work/hot.jsonl"
expect 2 script "$work/hot.jsonl" --set system.topology=switch
[[ $(grep -c '"bdf: no hot reset is modelled below it' "$work/out") == 3 ]] || complain "a hot reset of a switch is not refused"

# Software's accesses travel as TLPs: 1 TiB up is where the first BAR is placed.
cat >"$work/software.jsonl" <<'L'
{"op":"cfg_write","bdf":"01:00.0","offset":"0x3c","bytes":1,"value":9,"id":"w"}
{"op":"cfg_read","bdf":"01:00.0","offset":"0x3c","bytes":1,"id":"r"}
{"op":"mmio_write","addr":"0x10000000100","u32":"0x11223344"}
{"op":"mmio_read","addr":"0x10000000100","bytes":4,"id":"m"}
{"op":"mmio_read","addr":"0x20","bytes":4,"id":"no"}
L
expect 0 script "$work/software.jsonl"
printed '{"event":"data","id":"r","hex":"09"}'
printed '{"event":"data","id":"m","hex":"44332211"}'
printed '{"event":"completion","id":"no","status":"UR","hex":""}'
! grep -q '"done":"w","t_ns":0.0' "$work/out" || complain "a configuration write took no time"

# JSON lets pass what stands behind a NUL, and one of two equal keys.
printf '{"op":"run","for":"1us"}\0 {"op":"reset"}\n{"op":"poke","addr":"0x1000","u8":1,"u8":2,"id":"t"}\n{"op":"tlp","tlp":{"type":"MRd","type":"MWr"}}\n{"op":"run","for":"1us","id":"on"}\n' >"$work/odd.jsonl"
expect 2 script "$work/odd.jsonl"
printed "has a NUL character"
printed "has 'u8' twice; expected each key once"
printed "has 'type' twice; expected each key once"
[[ $(grep -c bad_line "$work/out") == 3 ]] || complain "odd lines: $(cat "$work/out")"
printed '"done":"on"'

echo '{"op":"mmio_read","address":0}' >"$work/bad.jsonl"
expect 2 script "$work/bad.jsonl"
printed "nearest key 'addr'"
[[ ! -s $work/err ]] || complain "a bad line was answered on stderr"
echo '{"op":"peak","addr":0}' >"$work/bad.jsonl"
expect 2 script "$work/bad.jsonl"
printed "nearest op 'peek'"
echo '{"op":"fault_record","index":1}' >"$work/bad.jsonl"
expect 2 script --set iommu.capabilities.fault_records=1 "$work/bad.jsonl"
printed "index: is 1; expected less than 1, which is iommu.capabilities.fault_records"

# A message of CXL goes where somebody has its channel, and nowhere else.
cat >"$work/cxl.jsonl" <<'L'
{"op":"cxl","port":"rp0","message":{"channel":"M2S Req","opcode":"MemInv","tag":5}}
{"op":"cxl","message":"M2S Req"}
{"op":"cxl","message":"D2H Req"}
{"op":"cxl","port":"rp0","message":"M2S BIRsp"}
{"op":"cxl","port":"rp7","message":"M2S Req"}
L
expect 2 script "$work/cxl.jsonl" --set link.preset=cxl68_gen5x16 --set device.cxl.memory=8GiB
printed 'port: M2S Req goes down; expected rp0'
printed 'message: nobody has D2H Req on the link of ep0'
printed 'message.channel: \"M2S BIRsp\" seen; expected D2H Req'
printed "port: unknown port 'rp7'; expected ep0 or rp0"
! grep -q '"line":1' "$work/out" || complain "a message of CXL.mem was refused"
expect 2 script "$work/cxl.jsonl"
printed "port: the link of 'rp0' is not a CXL link"

# Without Bus Master Enable a write waits, which is no end of the script: software may set it.
cat >"$work/stuck.jsonl" <<'L'
{"op":"reset","kind":"flr","bdf":"01:00.0"}
{"op":"tlp","hex":"400000010100030f0000200055667788"}
{"op":"run","until":"idle","id":"stuck"}
L
expect 3 script "$work/stuck.jsonl"
printed '"event":"error","id":"stuck","kind":"no_progress"'
printed '{"done":"stuck"'
echo '{"op":"cfg_write","bdf":"01:00.0","offset":4,"bytes":2,"value":6}' >>"$work/stuck.jsonl"
echo '{"op":"run","until":"idle"}' >>"$work/stuck.jsonl"
echo '{"op":"peek","addr":"0x2000","bytes":4,"id":"after"}' >>"$work/stuck.jsonl"
expect 0 script "$work/stuck.jsonl"
printed '"id":"after","addr":"0x2000","hex":"55667788"'

# Interrupts $child once it has printed something; its exit code is in $code afterwards.
interrupt_child() {
  local i
  for ((i = 0; i < 200; i++)); do
    [[ ! -s $work/out ]] || break
    sleep 0.05
  done
  kill -INT "$child"
  code=0
  wait "$child" || code=$?
}

# Ctrl-C while it waits for the next line.
mkfifo "$work/lines"
rm "$work/out"
"$FLITWISE" script - <"$work/lines" >"$work/out" 2>"$work/err" &
child=$!
exec 3>"$work/lines"
echo '{"op":"peek","addr":0}' >&3
interrupt_child
exec 3>&-
[[ $code == 130 ]] || complain "exit code $code after an interrupt"
printed '{"done":null'

# ... and while time passes.
rm "$work/out"
printf '%s\n' '{"op":"peek","addr":0}' '{"op":"start"}' '{"op":"run","for":"10s"}' >"$work/long.jsonl"
"$FLITWISE" script "$work/long.jsonl" >"$work/out" 2>"$work/err" &
child=$!
interrupt_child
[[ $code == 130 ]] || complain "exit code $code after an interrupt while time passes"

code=0
"$FLITWISE" script "$work/good.jsonl" >/dev/full 2>"$work/err" || code=$?
[[ $code == 2 ]] || complain "exit code $code where nothing can be written"

refuse 2 script "$work/nowhere.jsonl"
refuse 2 script "$work"
said "is a directory; expected a script"
seen=0
"$FLITWISE" script - <"$work" >"$work/out" 2>"$work/err" || seen=$?
[[ $seen == 2 ]] || complain "stdin that is a directory: exit code $seen, expected 2"
said "cannot be read; expected a script"
finish
