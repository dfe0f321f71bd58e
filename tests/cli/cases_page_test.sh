#!/usr/bin/env bash
# The page "write your first corner case" works as printed.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
page="$FLITWISE_SOURCE_DIR/docs/cases.md"
awk '/^```yaml$/ { on = 1; next } /^```$/ && on { exit } on' "$page" >"$folder/crossing.yaml"
[[ -s $folder/crossing.yaml ]] || { echo "no case on the page" >&2; exit 1; }
printed=$(awk '/^\$ flitwise conform crossing.yaml$/ { on = 1; next } /^```$/ && on { exit } on' "$page")
cd "$folder"
seen=$("$FLITWISE" conform crossing.yaml)
without_times() { sed -E 's/\([0-9]+ ms\)/(N ms)/' <<<"$1"; }
diff <(without_times "$printed") <(without_times "$seen")
sed -i 's/0x1ffc/0x1000/' crossing.yaml
if "$FLITWISE" conform crossing.yaml >failure; then
  echo "the changed case should fail" >&2
  exit 1
fi
grep -q 'crossing.yaml:.*expected error kind=malformed_tlp' failure

# So do the other cases on the page.
mkdir others
awk '/^```yaml$/ { file = sprintf("others/%d.yaml", ++n); next } /^```$/ { file = ""; next } file { print >file }' "$page"
rm others/1.yaml
[[ -n $(ls others) ]] || { echo "no other case on the page" >&2; exit 1; }
"$FLITWISE" conform others >seen || { cat seen >&2; exit 1; }
