# flitwise script: lock-step with a driver, exit codes, and the example of docs/script.md.
. "$(dirname "$0")/program.sh"

# The program of the documentation runs as it stands there.
sed -n '/^```python$/,/^```$/p' "$FLITWISE_SOURCE_DIR/docs/script.md" | sed '1d;$d' >"$work/example.py"
[[ $(wc -l <"$work/example.py") -gt 20 ]] || complain "docs/script.md has lost its example"
mkdir "$work/bin" && ln -s "$FLITWISE" "$work/bin/flitwise"
PATH="$work/bin:$PATH" timeout 60 python3 "$work/example.py" >"$work/out" 2>&1 || complain "the example fails: $(cat "$work/out")"
printed "read in "

cat >"$work/good.jsonl" <<'L'
{"op":"poke","addr":"0x1000","u64":"0x1122334455667788","id":7}
{"op":"dma","port":"ep0","rid":"01:00.0","pasid":5,"at":"untranslated","kind":"read","addr":"0x1000","bytes":8,"id":"x"}
L
expect 0 script "$work/good.jsonl"
printed '{"event":"data","id":"x","hex":"8877665544332211"}'
printed '{"done":7,"t_ns":0.0}'
expect 0 script "$work/good.jsonl" --config "$FLITWISE_SOURCE_DIR/configs/checks/script.yaml" --set link.preset=gen3x8
printed '"hex":"8877665544332211"'

echo '{"op":"peak","addr":0}' >"$work/bad.jsonl"
expect 2 script "$work/bad.jsonl"
printed "nearest op 'peek'"
echo '{"op":"iommu_read","offset":"0x34"}' >"$work/later.jsonl"
expect 2 script "$work/later.jsonl"
printed '"kind":"not_modelled"'
refuse 2 script "$work/nowhere.jsonl"
finish
