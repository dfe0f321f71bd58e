# encode and decode as programs: fields on the command line, hex as arguments and through pipes. [LNK-11.21]
. "$(dirname "$0")/program.sh"

write=(--set type=MWr --set address=0x1000 --set pasid=0x12345 --set payload=11223344)
expect 0 encode tlp "${write[@]}"
printed "91012345400000010000000f0000100011223344"
expect 0 encode tlp "${write[@]}" --set flit_mode=true
printed "4001000100000000000010004123450f11223344"
expect 0 decode tlp --set flit_mode=true 40010001 00000000 00001000 4123450f 11223344
printed '"pasid":74565'
refuse 2 decode tlp --set flit_mode=true 00000000
said "byte 0: nop_tlp"

expect 0 encode flit --set seq=5 --set 'tlps=[{"type":"MWr","address":"0x1000","payload":"11223344"}]'
flit="$(cat "$work/out")"
expect 0 decode flit "$flit"
printed '{"seq":5,"command":"explicit","usage":1,'
printed '"payload":"11223344"'
"$FLITWISE" decode flit "$flit" | "$FLITWISE" encode flit >"$work/again" || complain "no way there and back"
[[ $(cat "$work/again") == "$flit" ]] || complain "another flit came back"
expect 0 decode flit "ffffff${flit:6}"
printed '"mended":[0,1,2]'
refuse 2 decode flit "ffffffff${flit:8}"
said "flit 1, byte 242: bad_crc"
finish
