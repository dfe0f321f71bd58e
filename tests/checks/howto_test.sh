#!/usr/bin/env bash
# The patches of docs/howto fit this tree, and what they change compiles. (Their commands: docs.howto_*.)
set -uo pipefail
tree="$(mktemp -d)"
trap 'rm -rf -- "$tree"' EXIT
command -v patch >/dev/null || { echo "skipped: no patch here"; exit 77; }
failures=0
read -r -a flags < <(pkg-config --cflags systemc fmt)
for page in "$FLITWISE_SOURCE_DIR"/docs/howto/*.md; do
  awk '/^```diff$/ { on = 1; next } /^```$/ { on = 0 } on' "$page" >"$tree/patch"
  [[ -s $tree/patch ]] || continue
  rm -rf -- "$tree/source"
  mkdir -p "$tree/source/tests"
  cp -r -- "$FLITWISE_SOURCE_DIR"/{include,src,models} "$tree/source"
  cp -r -- "$FLITWISE_SOURCE_DIR"/tests/{unit,support} "$tree/source/tests"
  if ! patch -d "$tree/source" -p1 --no-backup-if-mismatch <"$tree/patch" >"$tree/log" 2>&1; then
    echo "FAILED: $page does not fit the sources: $(cat "$tree/log")"
    failures=$((failures + 1))
    continue
  fi
  while read -r file; do
    (cd "$tree/source" && "${CXX:-g++}" -std=c++17 -fsyntax-only -Wall -Wextra -Werror -DSC_INCLUDE_DYNAMIC_PROCESSES \
      "${flags[@]}" -Iinclude -Isrc -Imodels -Itests "$file") >"$tree/log" 2>&1 || {
      echo "FAILED: $page: $file does not compile: $(head -n 5 "$tree/log")"
      failures=$((failures + 1))
    }
  done < <(sed -n 's,^+++ b/\(.*\.cpp\)$,\1,p' "$tree/patch")
done
echo "$failures failed"
[[ $failures == 0 ]]
