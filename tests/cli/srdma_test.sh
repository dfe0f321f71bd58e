# flitwise script with lines of session groups, among lines of other kinds and as operations.
. "$(dirname "$0")/program.sh"

cat >"$work/group.jsonl" <<'L'
["srdma", {"source_first": 100, "source_last": 100, "destination_first": 200, "destination_last": 200}]
["connect", 0, {"sessions": 2}]
["run"]
["rdma", {}]
["post", 0, {"op": "WRITE", "id": 3}]
["run"]
{"op": "srdma", "line": ["send", 0, 0, 1, "0x200"], "id": 2}
{"op": "srdma", "line": ["deliver", 1], "id": 3}
["srdma", {"secured": true}]
["connect", 0, {"sessions": 1, "qps": [7]}]
["run"]
["send", 0, 0, 1, "0x200"]
["flip", 1, 500]
["run"]
["counts", 1]
L
expect 0 script "$work/group.jsonl"
printed '{"event":"srdma_message","end":0,"kind":"CONNECT_REQ","sg":0,"sessions":1,"qps":1}'
printed '{"event":"srdma_event","end":1,"kind":"group_up","group":0}'
printed '{"event":"rdma_packet","end":0,"opcode":"WRITE_ONLY"'
printed '{"event":"srdma_frame","id":3,"end":1,"outcome":"rx_data","group":0,"session":1,"qpn":512,"bytes":64}'
printed '"kind":"pair_ready","group":0,"psn":0,"qpn":512,"peer_qpn":7}'
printed '{"event":"srdma_frame","end":1,"outcome":"rx_auth"}'
printed '"rx_auth":1'

printf '["srdma", {"secured": true, "lifetime_us": 5}]\n["conect", 0, {}]\n' >"$work/wrong.jsonl"
expect 2 script "$work/wrong.jsonl"
printed 'lifetime 5000 ns seen; expected at least refresh_margin, 10000000 ns'
printed "unknown verb 'conect'"

finish
