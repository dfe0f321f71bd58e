# The dissector that comes with the program: tshark shows every field of 10,000 TLPs as the model has it.
. "$(dirname "$0")/program.sh"

if ! command -v tshark >/dev/null; then
  echo "SKIPPED, MISSING: tshark. scripts/setup installs it"
  exit 77
fi
lua="$FLITWISE_SOURCE_DIR/share/wireshark/flitwise.lua"
helper="$(dirname "$0")/wireshark.py"
total=0
# agrees NAME CONFIG ARGUMENTS...: what tshark shows of a run.
agrees() {
  local name="$1"
  shift
  expect 0 run "$@" --quiet --set trace.capture=links --trace pcapng="$work/$name.pcapng" --trace sqlite="$work/$name.db"
  # shellcheck disable=SC2046
  tshark -X "lua_script:$lua" -r "$work/$name.pcapng" -T fields $(python3 "$helper" fields) >"$work/$name.tsv" 2>"$work/$name.err" ||
    complain "$name: tshark: $(tail -n 2 "$work/$name.err")"
  ! grep -iq lua "$work/$name.err" || complain "$name: $(grep -i lua "$work/$name.err" | head -n 2)"
  python3 "$helper" compare "$work/$name.tsv" "$work/$name.db" >"$work/said" 2>&1 || complain "$name: $(tail -n 1 "$work/said" | head -c 900)"
  total=$((total + $(tail -n 1 "$work/said" | grep -E '^[0-9]+$' || echo 0)))
}
agrees pasid "$config" --set workload.kind=read --set workload.requests=1000 --set workload.domains=16 --set link.identity=bdf_pasid
agrees handles "$config" --set workload.requests=1500 --set workload.domains=300 --set device.dhi.bits=4 --set link.error_rate=1e-7
for form in tag prefix; do
  agrees "$form" "$config" --set workload.kind=read --set workload.requests=500 --set workload.domains=64 --set link.dhi_form=$form
done
agrees flits "$config" --set link.preset=gen6x16 --set workload.kind=read --set workload.requests=800 --set workload.domains=16 --set link.identity=bdf_pasid
agrees ohc "$config" --set link.preset=gen6x16 --set workload.kind=read_write --set workload.requests=800 --set workload.domains=16 --set link.dhi_form=ohc
agrees cxl "$FLITWISE_SOURCE_DIR/configs/examples/cxl_cache.yaml" --set workload.requests=200
agrees ats "$FLITWISE_SOURCE_DIR/configs/bench/ats_hit_read_64B.yaml" --set workload.requests=500
agrees tree "$FLITWISE_SOURCE_DIR/configs/examples/switch_tree.yaml" --set workload.requests=100
[[ $total -ge 10000 ]] || complain "only $total TLPs were compared"

# Units that are cut short or made up: never an error of Lua.
python3 - "$work/pasid.pcapng" "$work/hostile.pcapng" <<'P'
import random, struct, sys
random.seed(1)
data = bytearray(open(sys.argv[1], "rb").read())
out, at, count = bytearray(), 0, 0
while at < len(data):
    kind, length = struct.unpack_from("<II", data, at)
    block = data[at:at + length]
    if kind == 6 and count < 4000:
        count += 1
        size = struct.unpack_from("<I", block, 20)[0]
        body = bytearray(block[28:28 + size])
        for _ in range(random.randrange(1, 6)):  # behind the name of the dissector
            body[random.randrange(16, size)] = random.randrange(256)
        body = body[:random.choice([size, size, random.randrange(17, size)])]
        pad = bytes(-len(body) % 4)
        total = 28 + len(body) + len(pad) + 4
        block = struct.pack("<IIIIIII", 6, total, *struct.unpack_from("<III", block, 8), len(body), len(body)) + body + pad + struct.pack("<I", total)
    out += block
    at += length
open(sys.argv[2], "wb").write(out)
P
tshark -X "lua_script:$lua" -r "$work/hostile.pcapng" -V >"$work/shown" 2>"$work/err" || complain "hostile: tshark: $(tail -n 2 "$work/err")"
if grep -iE 'lua error|lua:' "$work/shown" "$work/err" | head -n 3 | grep .; then complain "hostile: an error of Lua"; fi
finish
