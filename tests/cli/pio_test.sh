# flitwise script with lines of PIO send memory: the example of docs/pio.md, mixed forms, bad lines.
. "$(dirname "$0")/program.sh"

# The example runs as it stands there: what is behind cat, and what is behind the run.
awk '/^\$ cat pio.jsonl$/ { on = 1; next } /^\$ / { on = 0 } on' "$FLITWISE_SOURCE_DIR/docs/pio.md" >"$work/pio.jsonl"
awk '/^\$ flitwise script pio.jsonl$/ { on = 1; next } /^```/ { on = 0 } on' "$FLITWISE_SOURCE_DIR/docs/pio.md" >"$work/expected"
[[ $(wc -l <"$work/pio.jsonl") -gt 8 && $(wc -l <"$work/expected") == 3 ]] || complain "docs/pio.md has lost its example"
expect 0 script "$work/pio.jsonl"
cmp -s "$work/out" "$work/expected" || complain "the example of docs/pio.md prints: $(cat "$work/out")"

# Lines and operations drive one device; only operations are done.
cat >"$work/mixed.jsonl" <<'L'
["setup", 159, 0, 4, 1, "0xfff000", false, false]
{"op": "pio", "line": ["fill", 159, 3, 15, false], "id": 1}
["launch"]
{"op": "pio", "line": ["commit", 15, true], "id": 2}
["clear", 15]
L
expect 0 script "$work/mixed.jsonl"
printed '{"event":"pio_wire","id":2,"vl":15,"source":159,"block":0,"bytes":188}'
printed '{"addr":16773120,"qw":[0,0,0,0,0,0,0,8195],"ctx":159,"irq":[]}'
[[ $(grep -c '"done"' "$work/out") == 2 ]] || complain "lines of send memory are done: $(cat "$work/out")"

# A bad line names its number, what was seen and what was expected; the lines behind it are done.
cat >"$work/bad.jsonl" <<'L'
["setup", 0, 0, 4, 1, 64, false, false]
["fill", 0, "many", 15, false]
["fil", 0, 1, 15, false]
["force", 0, 1]
L
expect 2 script "$work/bad.jsonl"
printed '"kind":"bad_line","line":2,"detail":"fill.blocks: '
printed '"kind":"bad_line","line":3,"detail":"unknown verb '
printed "nearest verb 'fill'"
printed '{"addr":64,"qw":[32768,0,0,0,0,0,0,0],"ctx":0,"irq":[]}'
[[ $(wc -l <"$work/out") == 3 ]] || complain "more than three answers: $(cat "$work/out")"

# Lines that are no array, and values that no verb takes: what was seen, what was expected, and no done.
hostile() {
  printf '%s\n' "$1" >"$work/hostile.jsonl"
  expect 2 script "$work/hostile.jsonl"
  printed '"kind":"bad_line","line":1,"detail":"'"$2"
  [[ $(wc -l <"$work/out") == 1 && $(wc -c <"$work/out") -lt 800 ]] || complain "${1:0:60}: more than one short answer: $(head -c 1000 "$work/out")"
}
hostile '["fill",0,1e0,0,false]' 'fill.blocks: 1.0 seen; expected a whole number in digits, 1 to 256"'
hostile '["fill",0,1,0' 'not JSON from byte 14 on; expected an array such as [\"fill\", 0, 1, 0, false]"'
hostile '["fill",0,NaN,0,false]' 'not JSON from byte 11 on; expected an array'
hostile '["fill",0,1e400,0,false]' 'a number beyond 1e308; expected an array'
hostile "$(printf '%0200d' 0 | tr 0 '[')" 'brackets more than 100 levels deep; expected an array'
hostile '["force",0]' 'force: 1 argument seen; expected [\"force\", ctx, on]"'
hostile '[["fill"],0]' '[\"fill\"] seen; expected device, '
hostile "[\"$(printf '%01000000d' 0)\"]" "unknown verb '0000"
hostile "[\"write\",0,\"$(printf '%01000000d' 0)\"]" 'write.hex: 500000 bytes seen; expected 1 to 4096"'
hostile "[\"fill\",0,\"$(printf '%01000000d' 0 | tr 0 7)\",0,0]" 'fill.blocks: \"7777'
hostile '["device",[0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,4]]' 'device.groups: number 20: 4 seen; expected 0 to 3"'
printf '["launch"]\0["launch"]\n' >"$work/hostile.jsonl"
expect 2 script "$work/hostile.jsonl"
printed 'has a NUL character'

# Five thousand random lines, two of five of them hostile.
python3 "$(dirname "$0")/pio_hostile.py" "$FLITWISE" 1 5000 "$work" >"$work/findings" 2>&1 || complain "pio_hostile.py ends with $?"
[[ ! -s $work/findings ]] || complain "hostile lines: $(head -c 2000 "$work/findings")"

# What the device refuses is no failure of the script.
echo '["setup", 0, 16384, 1, 0, 0, false, false]' >"$work/refused.jsonl"
expect 0 script "$work/refused.jsonl"
printed '{"event":"error","kind":"pio_setup_refused","detail":"context 0: base 16384 and depth 1 seen; expected up to 16384 blocks'

# Stores of a core: half a block evicted, a fence, what is no store, a packet without credits.
cat >"$work/stores.jsonl" <<'L'
["setup", 0, 0, 2, 1, 64, false, false]
["core", 0, 1, 0]
["store", 1, "0x1000000", "1000000000000000000000000000000000000000000000000000000000000000"]
["store", 0, "0x1000040", "1000000000000000"]
["evict", 0]
["store", 0, "0x1000020", "0000000000000000000000000000000000000000000000000000000000000000"]
["sfence", 0]
["status", 0]
["store", 0, "0x1000044", "1000000000000000"]
["send", 2, 0, 3, 0, false, 64]
L
expect 0 script "$work/stores.jsonl"
printed '{"event":"pio_stall","thread":0,"addr":"0x1000040"}'
printed '"packet_blocks":1'
printed '"kind":"pio_store_refused","detail":"8 bytes at 0x1000044 seen; expected 8, 16, 32 or 64 bytes'
printed '{"event":"pio_wait","ctx":0,"blocks":3,"available":2,"needs_force":false}'
[[ $(wc -l <"$work/out") == 4 ]] || complain "stores give other answers: $(cat "$work/out")"

# A ring of SDMA: what does not fit, reads, and the head that a descriptor asks for.
cat >"$work/ring.jsonl" <<'L'
["sdma_ring", 3, 4096, 6, 8192]
["sdma_ring", 3, 4096, 8, 8192]
["poke", "0x8000", "04100000000000001111111111111111"]
["poke", 4096, "00800000000010c00300000000000000"]
["sdma_tail", 3, 1]
["sdma_answer", 3, 0, true]
["sdma_answer", 3, 0, true]
["launch"]
["commit", 1, true]
["clear", 1]
L
expect 0 script "$work/ring.jsonl"
printed '"kind":"pio_setup_refused","detail":"engine 3: 6 entries seen; expected a multiple of 4 up to 2048"'
printed '{"sdma_read":[3,4096,16]}'
printed '{"sdma_read":[3,32768,16]}'
printed '{"wire":[1,163,0]}'
printed '{"sdma_head":[3,8192,1,1]}'
[[ $(wc -l <"$work/out") == 5 ]] || complain "a ring gives other answers: $(cat "$work/out")"

# Errors while packets flow are the same with the same seed, and others with another one.
run_errors() {
  "$FLITWISE" run "$FLITWISE_SOURCE_DIR/configs/checks/pio.yaml" --set workload.requests=1000 --set host.cores.hostile=1 --set faults.pio_integrity=0.01 --seed "$1" --json | grep -v host_seconds
}
run_errors 1 >"$work/first" && run_errors 1 >"$work/again" && run_errors 2 >"$work/other" || complain "a run with errors of PIO fails"
cmp -s "$work/first" "$work/again" || complain "errors of PIO differ with the same seed"
! cmp -s "$work/first" "$work/other" || complain "errors of PIO do not depend on the seed"
for field in lost_packets hostile_packets; do
  grep -q "\"$field\": [1-9]" "$work/first" || complain "a run with errors of PIO has no $field"
done
refuse 2 run "$FLITWISE_SOURCE_DIR/configs/checks/pio.yaml" --set host.cores.hostile=17
said '17 hostile processes of 16 domains; expected host.cores.hostile up to workload.domains'

# What is hardly meant is warned of at its place, and by run at the place of --set.
sed 's/count: 8/count: 9, threads: 2/' "$FLITWISE_SOURCE_DIR/configs/checks/pio.yaml" >"$work/idle.yaml"
expect 0 check "$work/idle.yaml"
said "idle.yaml:5:18: warning: host.cores.count: 2 of 18 threads have no send context, and send nothing; expected"
expect 0 check "$FLITWISE_SOURCE_DIR/configs/checks/pio.yaml"
[[ ! -s $work/err ]] || complain "a sound configuration is warned of: $(cat "$work/err")"
# Reads of descriptors that fail halt their engine, and nobody waits for its ring: the check that fails names it.
expect 3 run --quiet "$FLITWISE_SOURCE_DIR/configs/examples/sdma_send.yaml" --set workload.requests=300 --set device.timing.completion_timeout=1us
said "SDMA engine 0 is halted by read_failed"

expect 0 run --quiet "$FLITWISE_SOURCE_DIR/configs/checks/pio.yaml" --set workload.requests=20 --set device.pio.threshold=200
said "--set device.pio.threshold=200: warning: device.pio.threshold: 200 beyond the 128 blocks of a context"
# The key in front has its default: the one that was given is to blame.
printf 'base: %s\ndevice: {pio: {depth: 4}}\n' "$FLITWISE_SOURCE_DIR/configs/checks/pio.yaml" >"$work/shallow.yaml"
expect 0 check "$work/shallow.yaml"
said "shallow.yaml:2:23: warning: device.pio.threshold: 16 beyond the 4 blocks of a context"

# Random traces give what a second model says, line by line.
model="$(dirname "$0")/pio_model.py"
for seed in 1 2 3 4 5 6 7 8; do
  python3 "$model" trace $seed 3000 >"$work/trace.jsonl"
  python3 "$model" answer "$work/trace.jsonl" >"$work/expected"
  expect 0 script "$work/trace.jsonl"
  [[ $(grep -c wire "$work/expected") -gt 20 ]] || complain "trace $seed sends next to nothing"
  [[ $(grep -c sdma_read "$work/expected") -gt 20 ]] || complain "trace $seed reads next to nothing by SDMA"
  [[ $(grep -c pio_stall "$work/expected") -gt 20 ]] || complain "trace $seed has next to no stores that wait"
  cmp "$work/out" "$work/expected" || complain "trace $seed: the program and pio_model.py differ"
done
# A peer that is no device is told at its place; one that is, receives all that was sent.
printf 'base: %s\nsystem:\n  instances:\n    ep0: {device.pio.egress.peer: ep7}\n' "$FLITWISE_SOURCE_DIR/configs/examples/pio_two_devices.yaml" >"$work/peer.yaml"
refuse 2 check "$work/peer.yaml"
said "peer.yaml:4:35: device.pio.egress.peer: no device 'ep7' in this topology; expected ep0, ep1 or none"
expect 0 run "$FLITWISE_SOURCE_DIR/configs/examples/pio_two_devices.yaml" --set workload.requests=200
[[ $(grep -cE '^ep[01] +200 +204,800 +200 +200$' "$work/out") == 2 ]] || complain "not all packets came: $(grep -A3 "PIO receive" "$work/out")"

# A reset while packets are under way may lose some of them. With BAR 0 where it was, software recovers its contexts (PIO-9.9); without,
# threads give the device up. All packets are counted either way.
cat >"$work/reset.yaml" <<'Y'
link: {preset: gen3x16}
host: {cores: {count: 2}, timing: {completion_timeout: 200us}}
device: {functions: {bar_size: 64MiB}, pio: {depth: 16, threshold: 4}, timing: {completion_timeout: 200us}}
workload: {via: pio, domains: 2, payload: 184B, requests: 300}
run: {deadlock_after: 2ms}
Y
number() {  # of a path in the answers
  sed -n 's/.*"event":"result","path":"'"$1"'","value":\([0-9]*\)}.*/\1/p' "$work/out"
}
for reset in hot:00:01.0 link_down:00:01.0 flr:01:00.0; do
  for bar in 256 0; do
    cat >"$work/reset.jsonl" <<L
{"op": "start"}
{"op": "run", "for": "3us"}
{"op": "reset", "kind": "${reset%%:*}", "bdf": "${reset#*:}"}
{"op": "cfg_write", "bdf": "01:00.0", "offset": 20, "value": $bar}
{"op": "cfg_write", "bdf": "01:00.0", "offset": 4, "value": 6}
{"op": "run", "until": "idle"}
{"op": "result", "path": "pio.0.packets"}
{"op": "result", "path": "pio.0.lost_packets"}
L
    [[ $bar == 256 ]] || echo '{"op": "result", "path": "errors"}' >>"$work/reset.jsonl"
    expect 0 script "$work/reset.jsonl" --config "$work/reset.yaml"
    left=$(number pio.0.packets) lost=$(number pio.0.lost_packets)
    if [[ $bar == 256 ]]; then
      ((left + lost == 300 && left > 200)) || complain "$reset: $left packets left and $lost are lost of 300"
    else
      gone=$(sed -n 's/.*"path":"errors".*"device_gone"[^0-9]*\([0-9]*\).*/\1/p' "$work/out")
      ((left + lost + gone == 300 && gone > 100)) || complain "$reset: $left packets left, $lost are lost and $gone given up of 300"
    fi
  done
done

finish
