# flitwise script with lines of a host channel adapter: the example of docs/rdma.md, and lines of several kinds.
. "$(dirname "$0")/program.sh"

awk '/^\$ cat hca.jsonl$/ { on = 1; next } /^\$ / { on = 0 } on' "$FLITWISE_SOURCE_DIR/docs/rdma.md" >"$work/hca.jsonl"
awk '/^\$ flitwise script hca.jsonl$/ { on = 1; next } /^```/ { on = 0 } on' "$FLITWISE_SOURCE_DIR/docs/rdma.md" >"$work/expected"
[[ $(wc -l <"$work/hca.jsonl") -gt 7 && $(wc -l <"$work/expected") -gt 5 ]] || complain "docs/rdma.md has lost its example"
expect 0 script "$work/hca.jsonl"
cmp -s "$work/out" "$work/expected" || complain "the example of docs/rdma.md prints: $(cat "$work/out")"

# Arrays are of what the last setup was; operations drive the same adapter and are done.
cat >"$work/mixed.jsonl" <<'L'
["hca", {}]
["command", 1, 7, 3]
["rdma", {}]
["post", 0, {"op": "WRITE", "id": 3}]
["run"]
{"op": "hca", "line": ["fetched", 1, 7], "id": 2}
["scan"]
L
expect 2 script "$work/mixed.jsonl"
printed '{"event":"hca_command","command":3,"outcome":"fetch","entry":0}'
printed '{"event":"rdma_packet","end":0,"opcode":"WRITE_ONLY"'
printed '{"event":"hca_command","id":2,"command":3,"outcome":"ready","entry":0,"psn":0}'
printed "unknown verb 'scan'; expected rdma, "

finish
