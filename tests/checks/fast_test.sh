#!/usr/bin/env bash
# scripts/fast trains on each bench file and example, trains again only after a change, and compiles again only objects
# whose counts are new. cmake of this tree makes one script a build, so that nothing is compiled.
set -uo pipefail
tree="$(mktemp -d)"
trap 'rm -rf -- "$tree"' EXIT
failures=0
mkdir -p -- "$tree"/{scripts,bin,user,configs/bench,configs/examples}
cp -- "$FLITWISE_SOURCE_DIR"/scripts/{fast,common.sh} "$tree/scripts"
echo one >"$tree/configs/bench/one.yaml"
echo other >"$tree/configs/examples/other.yaml"
printf '#!/usr/bin/env bash\n' >"$tree/scripts/setup"
cat >"$tree/bin/program" <<'P'
#!/usr/bin/env bash
build="$(cd "$(dirname "$0")" && pwd)"
echo "$(basename "$build") $*" >>"$FLITWISE_CALLS"
case "$1" in
  run)
    mkdir -p "$build/profile"
    cat "$2" >>"$build/profile/CMakeFiles#a.dir#$(basename "$2" .yaml).cpp.gcda"
    ! grep -q broken "$2"
    ;;
  bench) if [[ $build == */fast ]]; then echo 3e6; else echo 2e6; fi ;;
  --version) echo "flitwise 0.1.0" ;;
esac
P
cat >"$tree/bin/cmake" <<'P'
#!/usr/bin/env bash
case "$1" in
  --preset) mkdir -p "build/$2/CMakeFiles/a.dir" ;;
  --build)
    for name in one other; do
      object="$2/CMakeFiles/a.dir/$name.cpp.o"
      [[ -e $object ]] || { echo "$(basename "$2") compiles $name" >>"$FLITWISE_CALLS"; touch "$object"; }
    done
    cp "$(dirname "$0")/program" "$2/flitwise"
    ;;
  *) echo "cmake $*" >>"$FLITWISE_CALLS" ;;
esac
P
chmod +x "$tree"/{scripts/setup,bin/cmake,bin/program}
export FLITWISE_CALLS="$tree/calls"

# fast STATUS CALLS ARGUMENT...: the script ends with STATUS, and its steps were these.
fast() {
  local wanted="$1" calls="$2" status=0
  shift 2
  : >"$FLITWISE_CALLS"
  (cd -- "$tree/user" && PATH="$tree/bin:$PATH" "$tree/scripts/fast" "$@") >"$tree/out" 2>"$tree/err" || status=$?
  if [[ $status -ne $wanted || $(grep -v ' bench ' "$FLITWISE_CALLS") != "$calls" ]]; then
    printf 'FAILED: fast %s: exit code %d, expected %d, and:\n' "$*" "$status" "$wanted"
    diff <(echo "$calls") <(grep -v ' bench ' "$FLITWISE_CALLS")
    failures=$((failures + 1))
  fi
}

# said TEXT: the last call did, on standard error.
said() { grep -qF -- "$1" "$tree/err" || { echo "FAILED: not said: $1: $(cat "$tree/err")"; failures=1; }; }

training='fast-train run configs/bench/one.yaml --quiet
fast-train run configs/examples/other.yaml --set workload.requests=2000 --quiet'
fast 0 "fast-train compiles one
fast-train compiles other
$training
fast compiles one
fast compiles other
release compiles one
release compiles other
fast --version"
grep -qE '^one +2\.000 +3\.000 +50\.0%$' "$tree/out" || { echo "FAILED: no comparison: $(cat "$tree/out")"; failures=1; }
fast 0 'fast --version'
echo more >>"$tree/configs/examples/other.yaml"
fast 0 "$training
fast compiles other
cmake --install $tree/build/fast --prefix $tree/user/here
fast --version" --no-bench --install here
sed -i 's/--version/-V | --version/' "$tree/bin/program"   # another program that counts the same
fast 0 "$training
fast --version" --no-bench
echo broken >"$tree/configs/bench/one.yaml"
fast 1 "${training%%$'\n'*}" --no-bench
echo one >"$tree/configs/bench/one.yaml"
fast 0 "$training
fast --version" --no-bench
fast 64 "" --install
fast 64 "" --install --no-bench
fast 64 "" --install=
said "needs a folder"
fast 0 "cmake --install $tree/build/fast --prefix $tree/user/a b/new
fast --version" --no-bench "--install=a b/new"
fast 0 "cmake --install $tree/build/fast --prefix $tree/user/here
fast --version" --install here --no-bench
touch "$tree/user/file"
fast 1 "" --no-bench --install file/below
said "cannot install to $tree/user/file/below: $tree/user/file is no folder"
if [[ $(id -u) -ne 0 ]]; then  # root may write anywhere
  mkdir "$tree/user/shut"
  chmod a-w "$tree/user/shut"
  fast 1 "" --no-bench --install shut/below
fi
exit $((failures > 0))
