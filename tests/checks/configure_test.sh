#!/usr/bin/env bash
# A configuration that cannot work must say what is wrong in one plain sentence.
set -euo pipefail

work="$(mktemp -d)"
trap 'rm -rf -- "$work"' EXIT
failures=0

# fails_with SENTENCE [CMAKE OPTION]...: configuring fails, and the message holds SENTENCE.
fails_with() {
  local sentence="$1" output status=0
  shift
  rm -rf -- "${work:?}/build"
  output="$(cmake -G Ninja -S "$FLITWISE_SOURCE_DIR" -B "$work/build" "$@" 2>&1)" || status=$?
  output="$(tr -s ' \n' '  ' <<<"$output")"
  if [[ $status -eq 0 || $output != *"$sentence"* ]]; then
    printf 'FAILED: cmake %s: expected "%s", got exit code %d and:\n%s\n' "$*" "$sentence" "$status" "$output"
    failures=$((failures + 1))
  fi
}

PKG_CONFIG_LIBDIR=/nonexistent PKG_CONFIG_PATH='' fails_with \
  'Not found: SystemC. Run scripts/setup, or on Debian 12: apt-get install libsystemc-dev'
fails_with 'does not link with C++20: it was built with another C++ standard' -DCMAKE_CXX_STANDARD=20
fails_with 'Not found: yaml-cpp, CLI11. Run scripts/setup, or on Debian 12: apt-get install libyaml-cpp-dev libcli11-dev' \
  -DCMAKE_DISABLE_FIND_PACKAGE_yaml-cpp=ON -DCMAKE_DISABLE_FIND_PACKAGE_CLI11=ON
fails_with "No profile in $work/build/profile; scripts/fast makes one." -DFLITWISE_PGO=use
fails_with "FLITWISE_PGO is 'yes'; expected nothing, generate or use." -DFLITWISE_PGO=yes

exit "$((failures > 0))"
