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

finish
