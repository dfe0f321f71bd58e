# Flits of CXL.cache and CXL.mem through the program: what decode prints encodes to the same bytes.
. "$(dirname "$0")/program.sh"

for form in 68 256 256_lopt; do
  echo '{"direction":"down","messages":[{"channel":"M2S RwD","opcode":"MemWrPtl","tag":7,"byte_enables":"0xf0"},
    {"channel":"M2S Req","opcode":"MemRd","tag":8,"address":"0x2000"}]}' >"$work/messages.json"
  "$FLITWISE" encode cxl --set flit=$form <"$work/messages.json" >"$work/flits.hex" || complain "encode $form"
  "$FLITWISE" decode cxl --set flit=$form --set direction=down <"$work/flits.hex" >"$work/flits.json" || complain "decode $form"
  "$FLITWISE" encode cxl <"$work/flits.json" | cmp - "$work/flits.hex" || complain "other bytes: $form"
  grep -q '"byte_enables":"0xf0"' "$work/flits.json" || complain "no byte enables: $form"
done
expect 0 decode cxl --set direction=up "$("$FLITWISE" encode cxl '{"flit":"68","control":"RETRY.Req","seq":9}')"
printed '"seq":9'
refuse 2 decode cxl 5555
said "direction"
refuse 2 decode cxl --set direction=up 5555
said "byte 2: wrong_size"
finish
