# flitwise script with lines of RDMA: the example of docs/rdma.md, mixed forms, bad lines.
. "$(dirname "$0")/program.sh"

# The example runs as it stands there: what is behind cat, and what is behind the run.
awk '/^\$ cat rdma.jsonl$/ { on = 1; next } /^\$ / { on = 0 } on' "$FLITWISE_SOURCE_DIR/docs/rdma.md" >"$work/rdma.jsonl"
awk '/^\$ flitwise script rdma.jsonl$/ { on = 1; next } /^```/ { on = 0 } on' "$FLITWISE_SOURCE_DIR/docs/rdma.md" >"$work/expected"
[[ $(wc -l <"$work/rdma.jsonl") -gt 8 && $(wc -l <"$work/expected") -gt 8 ]] || complain "docs/rdma.md has lost its example"
expect 0 script "$work/rdma.jsonl"
cmp -s "$work/out" "$work/expected" || complain "the example of docs/rdma.md prints: $(cat "$work/out")"

# Lines and operations drive the same two ends; only operations are done. Before the setup arrays are of PIO.
cat >"$work/mixed.jsonl" <<'L'
["setup", 0, 0, 4, 1, 64, false, false]
["rdma", {"psn": [7, 0]}]
{"op": "rdma", "line": ["post", 0, {"op": "WRITE", "id": 3}], "id": 1}
["run"]
{"op": "rdma", "line": ["poll", 0], "id": 2}
L
expect 0 script "$work/mixed.jsonl"
printed '{"event":"rdma_packet","end":0,"opcode":"WRITE_ONLY","psn":7,"bytes":0,"pad":0,"ack_req":true,"va":"0x0","rkey":0,"length":0}'
printed '{"event":"rdma_completion","id":2,"end":0,"wr":3,"status":"SUCCESS","op":"WRITE","bytes":0}'
[[ $(grep -c '"done"' "$work/out") == 2 ]] || complain "lines of RDMA are done: $(cat "$work/out")"

# A bad line names its number, what was seen and what was expected; the lines behind it are done.
cat >"$work/bad.jsonl" <<'L'
["rdma", {"mtu": 300}]
["rdma", {"windw": 3, "access": "RX"}]
["post", 0, {"op": "SENT"}]
["delivr", 1]
["deliver"]
["region", 0, 0, 65530, 7, "LW"]
["modify", 0, "INIT"]
L
expect 2 script "$work/bad.jsonl"
printed '"kind":"bad_line","line":1,"detail":"rdma.{setup}: mtu: 300 seen; expected 256, 512, 1024, 2048 or 4096"'
printed "windw: unknown key; expected mtu, "
printed "expected words of LW, RR, RW and RA"
printed "nearest value 'SEND'"
printed "nearest verb 'deliver'"
printed '0 arguments seen; expected [\"deliver\", end]'
printed '"kind":"rdma_refused","detail":"region of end 0: 7 bytes at 0xfffa seen; expected a region within 0x10000 bytes of memory'
printed '"kind":"rdma_refused","detail":"modify of end 0: INIT seen; it is in RTS, which does not go there"'
[[ $(wc -l <"$work/out") == 7 ]] || complain "more than seven answers: $(cat "$work/out")"

# What both ends agree on has to fit together, and an age of a gap is not below 1 us.
cat >"$work/agreed.jsonl" <<'L'
["rdma", {"mode": "in_order", "recovery": "selective"}]
["rdma", {"sack": true}]
["rdma", {"mode": ["ddp", "reorder"]}]
["rdma", {"mode": "reorder", "echo_holes": true}]
["gap_timer", 0, 999]
["send_by", 0, 65535]
L
expect 2 script "$work/agreed.jsonl"
printed 'recovery: \"selective\" seen; expected \"go_back_n\" with mode \"in_order\", or mode \"reorder\" or \"ddp\"'
printed 'sack: true seen; expected false with mode \"in_order\", which keeps nothing, or mode \"reorder\" or \"ddp\"'
printed 'expected in_order, reorder or ddp'
printed 'echo_holes: true seen; expected false, or echo true and recovery \"selective\"'
printed '"kind":"rdma_refused","detail":"gap_timer of end 0: 999 ns seen; expected 1000 at least"'
printed 'send_by.session: 65535 seen; expected 0 to 65534'

# A probe is echoed, the loss of a session is told, and time alone asks for what is missing.
cat >"$work/sessions.jsonl" <<'L'
["rdma", {"mtu": 256, "mode": "ddp", "echo": true, "sack": true}]
["region", 0, 0, 0, 4096, "LW"]
["region", 1, 0, 0, 4096, "LW RW"]
["probe", 0, 4]
["wait", 300]
["deliver", 1]
["send", 1]
["post", 0, {"id": 1, "op": "WRITE", "bytes": 600, "key": 1, "rkey": 1}]
["send_by", 0, 1]
["send_by", 0, 2]
["send_by", 0, 3]
["drop", 1]
["deliver", 1]
["wait", 50000]
["run"]
["poll", 0]
L
expect 0 script "$work/sessions.jsonl"
printed '{"event":"rdma_packet","end":0,"opcode":"WRITE_ONLY","psn":16777215,"bytes":0,"pad":0,"ack_req":true,"va":"0x0","rkey":0,"length":0,"session":4}'
printed '"syndrome":"0x1f","msn":0,"session":4,"echo_session":4,"echo_psn":16777215,"hold_ns":0,"ce":false,"sack":"0x0"}'
printed '"opcode":"WRITE_MIDDLE","psn":1,"bytes":256,"pad":0,"ack_req":false,"va":"0x100","rkey":1,"length":344,"session":2}'
printed '{"event":"rdma_loss","end":0,"psn":0,"cause":"nak","session":1}'
printed '{"event":"rdma_completion","end":0,"wr":1,"status":"SUCCESS","op":"WRITE","bytes":600}'

finish
