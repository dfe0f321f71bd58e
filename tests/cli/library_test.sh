#!/usr/bin/env bash
# The installed library: programs of a user build against it in a clean tree, by CMake and by pkg-config, and do what
# docs/library.md says.
. "$(dirname "$0")/program.sh"
build="$(dirname -- "$FLITWISE")"
[[ -f $build/libflitwise.a ]] || { echo "skipped: a build without the library"; exit 77; }
if grep -q '^CMAKE_CXX_FLAGS:STRING=..*\(sanitize\|coverage\)' "$build/CMakeCache.txt"; then
  echo "skipped: a library with sanitizers or counters is for nobody else"
  exit 77
fi
cmake --install "$build" --prefix "$work/installed" >"$work/log" 2>&1 || complain "cmake --install: $(tail -n 3 "$work/log")"
cp -r "$FLITWISE_SOURCE_DIR/examples/library" "$work/example"
cmake -S "$work/example" -B "$work/example/build" -DCMAKE_PREFIX_PATH="$work/installed" >"$work/log" 2>&1 &&
  cmake --build "$work/example/build" --parallel 2 >>"$work/log" 2>&1 ||
  complain "the example does not build: $(tail -n 20 "$work/log")"

# ran PROGRAM PATTERN [ARGUMENT]...
ran() {
  local text
  text="$("$work/example/build/$1" "${@:3}" 2>&1)" || complain "$1: exit code $?: $text"
  [[ $text =~ $2 ]] || complain "$1 printed '$text', expected $2"
}
ran own_memory '^1 banks: 2000 writes, [0-9]{5} ns on average$' one
ran own_memory '^16 banks: 2000 writes, [0-9]{3} ns on average$' all
ran own_engine '^32 KiB copied in [0-9]+ ns, byte for byte; 192 TLPs up, 128 down$'
ran own_device '^100 nodes, [0-9]{3} ns a step, and memory has the number$'

# Every public header is installed, compiles alone, and by pkg-config; a program may have its own sc_main.
export PKG_CONFIG_PATH="$work/installed/lib/pkgconfig:$(find "$work/installed" -name pkgconfig -type d)"
{
  (cd "$work/installed/include" && printf '#include "%s"\n' flitwise/*.h)
  echo 'static_assert(FLITWISE_VERSION_MAJOR >= 0 && sizeof FLITWISE_VERSION > 1);'
  echo 'int sc_main(int, char**) {'
  echo '  flitwise::prepare_kernel();'
  echo '  flitwise::System system(flitwise::config_from_text("workload: {requests: 10}", "own", ""));'
  echo '  return system.run().checks.empty() ? 1 : 0;'
  echo '}'
} >"$work/main.cpp"
# shellcheck disable=SC2046
"${CXX:-g++}" -std=c++17 -o "$work/main" "$work/main.cpp" $(pkg-config --cflags --libs flitwise) 2>"$work/log" &&
  "$work/main" >"$work/out" 2>&1 || complain "by pkg-config: $(tail -n 5 "$work/log")"
[[ $(pkg-config --modversion flitwise) == "$("$FLITWISE" --version | sed -n '1s/flitwise //p')" ]] ||
  complain "the version of flitwise.pc is not that of the program"
finish
