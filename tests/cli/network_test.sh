# flitwise script with lines of the switches of a network: the example of docs/network.md, and lines of several kinds.
. "$(dirname "$0")/program.sh"

awk '/^\$ cat network.jsonl$/ { on = 1; next } /^\$ / { on = 0 } on' "$FLITWISE_SOURCE_DIR/docs/network.md" >"$work/network.jsonl"
awk '/^\$ flitwise script network.jsonl$/ { on = 1; next } /^```/ { on = 0 } on' "$FLITWISE_SOURCE_DIR/docs/network.md" >"$work/expected"
[[ $(wc -l <"$work/network.jsonl") -gt 12 && $(wc -l <"$work/expected") -gt 6 ]] || complain "docs/network.md has lost its example"
expect 0 script "$work/network.jsonl"
cmp -s "$work/out" "$work/expected" || complain "the example of docs/network.md prints: $(cat "$work/out")"

# Arrays are of what the last setup was; operations drive the same network and are done.
cat >"$work/mixed.jsonl" <<'L'
["network", {"topology": "dumbbell", "hosts": 1}]
["hca", {}]
["command", 1, 7, 3]
{"op": "network", "line": ["send", {"ttl": 2}], "id": 2}
["send", {}]
L
expect 2 script "$work/mixed.jsonl"
printed '{"event":"network_ready","hosts":2,"switches":2,"edges":3,"cycle":"none"}'
printed '{"event":"network_packet","id":2,"outcome":"ttl","way":"h0 left right","ttl":1,'
printed "unknown verb 'send'; expected hca, "

finish
