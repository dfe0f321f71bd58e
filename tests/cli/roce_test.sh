# encode roce in the eyes of others: tshark dissects a frame of each opcode, and scapy works out the same ICRC.
# [ROCE-1] [ROCE-3] [ROCE-4]
. "$(dirname "$0")/program.sh"

# The first python3 that has scapy: Debian's may stand behind another in the path.
python=""
for candidate in python3 /usr/bin/python3; do
  "$candidate" -c 'import scapy' 2>/dev/null && { python="$candidate"; break; }
done
missing=""
[[ -n $python ]] || missing+=" python3-scapy"
command -v tshark >/dev/null || missing+=" tshark"
frames() { "${python:-python3}" "$(dirname "$0")/roce_frames.py" "$@"; }

expect 0 encode roce --set bth.opcode=RC_ACKNOWLEDGE --set bth.dest_qp=0x654321 --set bth.psn=259 \
  --set aeth.msn=4 --set ip.ecn=2 --set udp.src_port=49153
ack=0200000000020200000000010800450200300000400040112
ack+=6b90a0000010a000002c00112b7001c00001100ffff00654321000001031f000004b2fd842d
printed "$ack"
expect 0 decode roce "$ack"
printed '"aeth":{"syndrome":"0x1f","msn":4},"payload":"","icrc":"b2fd842d","icrc_ok":true}'
refuse 2 decode roce "${ack:0:100}"
said "HEX: byte 50: truncated in 50 bytes: 50 bytes seen; expected at least 54"
refuse 2 encode roce --set bth.opcode=RC_ACK
said "bth.opcode"

# What both ends have agreed on is there only for who says so. [ROCE-8]
expect 0 encode roce --set bth.opcode=RC_ACKNOWLEDGE --set echo.session=5 --set echo.psn=7 --set echo.hold_ns=250 --set echo.ce=true --set sack.bitmap=3
ack="$(cat "$work/out")"
refuse 2 decode roce "$ack"
said "payload in 82 bytes: 20 bytes of payload seen; expected 0 with this opcode"
expect 0 decode roce --set echo=true --set sack=true "$ack"
printed '"echo":{"session":5,"ce":true,"psn":7,"hold_ns":250},"sack":{"bitmap":"0x3"},"payload":""'
"$FLITWISE" encode roce <"$work/out" >"$work/again" || complain "a frame with an echo is not taken back"
[[ "$(cat "$work/again")" == "$ack" ]] || complain "another frame with an echo came back: $(cat "$work/again")"
expect 0 encode roce --set bth.opcode=RC_RDMA_WRITE_LAST --set place=true --set reth.va=0x1000 --set payload=01020304
write="$(cat "$work/out")"
expect 0 decode roce --set place=true "$write"
printed '"reth":{"va":"0x1000","r_key":"0x0","dma_length":0},"payload":"01020304"'
refuse 2 encode roce --set bth.opcode=RC_RDMA_WRITE_LAST --set reth.va=0x1000
said "reth"
refuse 2 encode roce --set bth.opcode=RC_SEND_ONLY --set echo.session=5
said "echo"

frames json >"$work/frames.json"
"$FLITWISE" encode roce <"$work/frames.json" >"$work/frames.hex" || complain "the frames cannot be encoded"
"$FLITWISE" decode roce <"$work/frames.hex" >"$work/again.json" || complain "the frames cannot be decoded"
"$FLITWISE" encode roce <"$work/again.json" | cmp - "$work/frames.hex" || complain "other frames came back"
frames pcap <"$work/frames.hex" >"$work/frames.pcap"

if command -v tshark >/dev/null; then
  fields=(bth.opcode bth.destqp bth.psn bth.p_key bth.padcnt bth.a aeth.syndrome aeth.msn reth.va reth.r_key
    reth.dmalen immdt invariant.crc)
  tshark -r "$work/frames.pcap" -d udp.port==40000-40010,infiniband --disable-protocol rpcordma \
    --disable-protocol smb_direct_infiniband --disable-protocol iser_infiniband --disable-protocol lnet_ib \
    --disable-protocol sdp_infiniband -o udp.check_checksum:TRUE -o ip.check_checksum:TRUE -T fields \
    "${fields[@]/#/-einfiniband.}" -e udp.checksum.status -e ip.checksum.status -e _ws.malformed \
    -e _ws.expert.message >"$work/tshark.tsv" 2>"$work/tshark.err" ||
    complain "tshark: $(head -c 300 "$work/tshark.err")"
  frames tshark "$work/frames.json" "$work/again.json" "$work/tshark.tsv" || complain "tshark sees other frames"
fi
if [[ -n $python ]]; then
  frames scapy "$work/frames.pcap" || complain "scapy works out another ICRC"
fi

if [[ -n $missing && $failures == 0 ]]; then
  echo "SKIPPED in part, MISSING:$missing. scripts/setup installs them"
  exit 77
fi
finish
