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
  --preset)
    mkdir -p "build/$2/CMakeFiles/a.dir"
    echo "$2 ${*:3}" >>"$FLITWISE_CALLS.configured"
    ;;
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
cat >"$tree/bin/apt-get" <<'P'
#!/usr/bin/env bash
[[ " $* " == *" source "* ]] || exit 0
[[ ! -e $FLITWISE_CALLS.without_sources ]] || { echo "E: Unable to find a source package"; exit 100; }
mkdir -p systemc-1/src/sysc
tar -czf systemc_1.orig.tar.gz systemc-1
P
printf '#!/usr/bin/env bash\necho 1-1\n' >"$tree/bin/dpkg-query"
chmod +x "$tree"/{scripts/setup,bin/cmake,bin/program,bin/apt-get,bin/dpkg-query}
export FLITWISE_CALLS="$tree/calls"

# fast STATUS CALLS ARGUMENT...: the script ends with STATUS, and its steps were these.
fast() {
  local wanted="$1" calls="$2" status=0
  shift 2
  : >"$FLITWISE_CALLS"
  (cd -- "$tree/user" && PATH="$tree/bin:$PATH" timeout 60 "$tree/scripts/fast" "$@") >"$tree/out" 2>"$tree/err" || status=$?
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
fast 1 "${training%%$'\n'*}" --no-bench  # a training that has failed counts for nothing
echo one >"$tree/configs/bench/one.yaml"
fast 0 "$training
fast --version" --no-bench

# configured BUILD ARCH [KERNEL]: so it was, last.
configured() {
  local kernel="${3-$tree/build/systemc/1-1}"
  [[ $(grep "^$1 " "$FLITWISE_CALLS.configured" | tail -1) == *" -DFLITWISE_ARCH=$2 -DFLITWISE_SYSTEMC_SOURCE=$kernel" ]] ||
    { echo "FAILED: $1 is not for '$2' with '$kernel': $(tail -3 "$FLITWISE_CALLS.configured")"; failures=1; }
}
here=
if [[ $(/lib64/ld-linux-x86-64.so.2 --help 2>/dev/null || true) == *'x86-64-v3 (supported'* ]]; then here=x86-64-v3; fi
configured fast-train "$here"
configured fast "$here"
fast 0 'fast --version' --no-bench --portable
configured fast-train ""
configured fast ""

# Where there are no sources of the kernel, the library that is installed is used, and that is said.
rm -rf -- "$tree/build/systemc"
touch "$FLITWISE_CALLS.without_sources"
fast 0 'fast --version' --no-bench --portable
said "The installed library of SystemC is used as it is."
configured fast-train "" ""
configured fast "" ""
rm -- "$FLITWISE_CALLS.without_sources"

# Two at once: the second ends, does nothing, and says whom it waits for. One that was killed holds nobody up.
mkfifo "$tree/go"
printf '#!/usr/bin/env bash\nread -r _ <"%s/go"\n' "$tree" >"$tree/scripts/setup"
(exec "$tree/scripts/fast" --no-bench >/dev/null 2>&1) &
first=$!
for ((i = 0; i < 200; ++i)); do [[ $(cat "$tree/build/fast.lock") != "$first" ]] || break; sleep 0.05; done
fast 1 "" --no-bench
said "another scripts/fast is building here, process $first"
kill -- "$first"
echo go >"$tree/go"  # its setup ends as well, and with it the lock
wait "$first"
printf '#!/usr/bin/env bash\n' >"$tree/scripts/setup"
for ((i = 0; i < 200; ++i)); do flock -n "$tree/build/fast.lock" true && break; sleep 0.05; done
fast 0 'fast --version' --no-bench
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
