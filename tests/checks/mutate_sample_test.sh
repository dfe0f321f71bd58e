#!/usr/bin/env bash
# scripts/mutate --sample on a tree of a few lines: what the operators make, which tests run and in which order, what a second
# call takes over, and that a budget is kept.
set -euo pipefail

tree="$(mktemp -d)"
RUNS="$tree.runs"
export RUNS
trap 'rm -rf -- "$tree" "$RUNS" "$RUNS.slow"' EXIT
failures=0
mkdir -p -- "$tree"/{scripts,src/tlp,src/cli,tests/unit/tlp,tests/cases/tlp}
cp -r -- "$FLITWISE_SOURCE_DIR"/scripts/{mutate,common.sh,mutation} "$tree/scripts"
cd -- "$tree"

fail() {
  printf 'FAILED: %s\n' "$*"
  failures=$((failures + 1))
}

# sample STATUS WORDS... -- ARGUMENTS...: a call ends with STATUS and prints each of WORDS.
sample() {
  local wanted="$1" expected=() output status=0 words
  shift
  while [[ $1 != -- ]]; do
    expected+=("$1")
    shift
  done
  shift
  : >"$RUNS"
  output="$(scripts/mutate "$@" 2>&1)" || status=$?
  [[ $status -eq $wanted ]] || fail "$* ends with $status, expected $wanted: $output"
  for words in "${expected[@]}"; do
    [[ $output == *"$words"* ]] || fail "$*: no \"$words\" in: $output"
  done
}

# ---- the operators

cat >src/operators.cpp <<'END'
// A comment: a < b, 1 && 2
#define MACRO(a) ((a) < 1)
static_assert(1 < 2);
std::vector<int> list(const Tlp& tlp, std::map<int, int> seen);
void run() {
  const char* text = "a < 1";
  FLITWISE_CHECK(a == b, c);
  if (const int x = first(); x) {
    second(a, b);
  }
  mask = is_wide ? 0x0fU : b;
  for (; a <= n && more; ++a) {
  }
  return;
}
END
cat >expected <<'END'
src/operators.cpp:8  negation  if (const int x = first(); x) {  ->  if (const int x = first(); !(x)) {
src/operators.cpp:9  drop  second(a, b);  ->  ;
src/operators.cpp:9  swap  second(a, b);  ->  second(b, a);
src/operators.cpp:11  constant  mask = is_wide ? 0x0fU : b;  ->  mask = is_wide ? 0x10U : b;
src/operators.cpp:11  constant  mask = is_wide ? 0x0fU : b;  ->  mask = is_wide ? 0xeU : b;
src/operators.cpp:11  drop  mask = is_wide ? 0x0fU : b;  ->  ;
src/operators.cpp:11  negation  mask = is_wide ? 0x0fU : b;  ->  mask = !(is_wide) ? 0x0fU : b;
src/operators.cpp:12  comparison  for (; a <= n && more; ++a) {  ->  for (; a < n && more; ++a) {
src/operators.cpp:12  comparison  for (; a <= n && more; ++a) {  ->  for (; a > n && more; ++a) {
src/operators.cpp:12  logic  for (; a <= n && more; ++a) {  ->  for (; a <= n || more; ++a) {
src/operators.cpp:12  negation  for (; a <= n && more; ++a) {  ->  for (; !(a <= n && more); ++a) {
src/operators.cpp:14  drop  return;  ->  ;
END
scripts/mutate --sample 1000 --list src/operators.cpp | sort -t: -k2n -k2 | diff expected - || fail "the operators make something else"

# ---- what is drawn

drawn() { scripts/mutate --sample 5 --seed "$1" --list src/operators.cpp; }
[[ $(drawn 7) == "$(drawn 7)" ]] || fail "the same seed draws others"
[[ $(drawn 7) != "$(drawn 8)" ]] || fail "another seed draws the same"
before="$(drawn 7 | sed 's/:[0-9]*//')"
sed -i '1i // One line more.' src/operators.cpp
[[ $before == "$(drawn 7 | sed 's/:[0-9]*//')" ]] || fail "a line above changes what is drawn"
[[ $(drawn 7 | awk '{ print $2 }' | sort -u | wc -l) -eq 5 ]] || fail "five mutants are not of five operators: $(drawn 7)"

sample 64 "expected a number from 1 on" -- --sample 0
sample 64 "expected a number and s, m or h" -- --sample 1 --budget 2
sample 64 "no C++ source of this tree: nowhere" -- --sample 1 nowhere
sample 64 "--sead" -- --sample 1 --sead 1

# ---- verdicts: each function is tested by what its name says

cat >CMakeLists.txt <<'END'
cmake_minimum_required(VERSION 3.20)
project(tiny LANGUAGES CXX)
enable_testing()
add_library(core STATIC src/tlp/limits.cpp)
add_executable(flitwise src/cli/program.cpp)
target_link_libraries(flitwise PRIVATE core)
add_subdirectory(tests)
END
cat >tests/CMakeLists.txt <<'END'
foreach(name unit_tests model_tests)
  add_executable(${name} ${name}.cpp)
  target_link_libraries(${name} PRIVATE core)
endforeach()
add_test(NAME Model.Equal COMMAND model_tests)
add_test(NAME looks_at_sources COMMAND false)
set_tests_properties(Model.Equal PROPERTIES LABELS "ci;model")
set_tests_properties(looks_at_sources PROPERTIES LABELS "ci;checks")
END
cat >src/tlp/limits.cpp <<'END'
// What is equal. [LNK-7.2]
bool by_unit_near(int a, int b) { return a == b; }
bool by_unit_far(int a, int b) { return a == b; }
bool by_case_near(int a, int b) { return a == b; }
bool by_case_far(int a, int b) { return a == b; }
bool by_model(int a, int b) { return a == b; }
bool by_none(int a, int b) { return a == b; }
constexpr int kNotUsed = 0;
int of(int, const char* b) { return *b; }
int never_called(int a, const char* b) { return of(a, b); }
END
cat >src/declared.h <<'END'
#include <unistd.h>
#include <cstdio>
#include <cstdlib>
#include <string>
bool by_unit_near(int, int), by_unit_far(int, int), by_case_near(int, int), by_case_far(int, int), by_model(int, int);
inline std::string noted(const char* name, int count, char** words) {
  std::string line = name;
  for (int i = 1; i < count; ++i) {
    line += std::string(" ") + words[i];
  }
  std::FILE* file = std::fopen(std::getenv("RUNS"), "a");
  std::fprintf(file, "%s\n", line.c_str());
  std::fclose(file);
  return line;
}
END
cat >tests/unit_tests.cpp <<'END'
#include "../src/declared.h"
int main(int count, char** words) {
  const std::string line = noted("unit", count, words);
  if (access((std::string(std::getenv("RUNS")) + ".slow").c_str(), F_OK) == 0) {
    sleep(200);
  }
  const bool all = line.find("--gtest_filter=Limits.*") == std::string::npos;
  if (by_unit_near(1, 1) && (!all || by_unit_far(1, 1))) {
    return 0;
  }
  std::puts(by_unit_near(1, 1) ? "[  FAILED  ] Other.Far (0 ms)" : "[  FAILED  ] Limits.Near (0 ms)");
  return 1;
}
END
cat >tests/model_tests.cpp <<'END'
#include "../src/declared.h"
int main(int count, char** words) {
  noted("model", count, words);
  return by_model(1, 1) ? 0 : 1;
}
END
cat >src/cli/program.cpp <<'END'
#include "../declared.h"
int main(int count, char** words) {
  const std::string line = noted("program", count, words);
  const bool all = line.find("near.yaml") == std::string::npos;
  if (by_case_near(1, 1) && (!all || by_case_far(1, 1))) {
    return 0;
  }
  std::puts(by_case_near(1, 1) ? "FAIL  IOM-1.1  Far (1 ms)" : "FAIL  LNK-7.2/near  Near (1 ms)");
  return 1;
}
END
echo 'TEST(Limits, Near) {}' >tests/unit/tlp/limits_test.cpp
echo 'cites: [IOM-1.1, LNK-7.2]' >tests/cases/tlp/near.yaml
longer=LNK-7.22   # no rule of docs, so that it does not stand in brackets
echo "cites: [$longer, IOM-1.1]" >tests/cases/tlp/far.yaml

summary="6 of 100 mutants: 5 killed (83.3 %), 1 survived; apart from them 1 equivalent and 1 that do not compile"
sample 0 \
  "killed      comparison  src/tlp/limits.cpp:2  unit: Limits.Near" \
  "killed      comparison  src/tlp/limits.cpp:3  unit: Other.Far" \
  "killed      comparison  src/tlp/limits.cpp:4  cases: LNK-7.2/near" \
  "killed      comparison  src/tlp/limits.cpp:5  cases: IOM-1.1" \
  "killed      comparison  src/tlp/limits.cpp:6  rest: Model.Equal" \
  "equivalent  constant    src/tlp/limits.cpp:8" \
  "src/tlp/limits.cpp:7  comparison  bool by_none(int a, int b) { return a == b; }  ->  bool by_none(int a, int b) { return a != b; }" \
  "$summary" -- --sample 100 -j 1 src/tlp
[[ $(grep -c "unit .*Limits" "$RUNS") -eq 6 ]] || fail "unit tests that are near do not run once for each mutant: $(<"$RUNS")"
[[ $(grep -c "program .*near.yaml" "$RUNS") -eq 4 ]] || fail "cases that are near: $(<"$RUNS")"
diff -r src build/mutate/sample/tree/src || fail "a mutant was left behind"

# ---- a second call

sample 0 "$summary" "rest: Model.Equal" -- --sample 100 -j 1 src/tlp
[[ ! -s $RUNS ]] || fail "the same mutants were tried again: $(<"$RUNS")"
echo "// Changed." >>tests/model_tests.cpp
sample 0 "$summary" -- --sample 100 -j 1 src/tlp
# The tree without a mutant, and the one survivor.
[[ $(grep -c '^model' "$RUNS") -eq 2 ]] || fail "not the survivor alone was tried again: $(<"$RUNS")"
sed -i 's/by_none(int a, int b)/by_none(int b, int a)/' src/tlp/limits.cpp
sample 0 "$summary" -- --sample 100 -j 1 src/tlp
[[ $(grep -c "unit .*Limits" "$RUNS") -eq 6 ]] || fail "a changed file keeps its verdicts: $(<"$RUNS")"

# ---- a budget

touch "$RUNS.slow"
begun=$SECONDS
sample 0 "Stopped; the same call goes on." "0 of 100 mutants: 0 killed, 0 survived" -- --sample 100 -j 1 --budget 8s --fresh src/tlp
[[ $((SECONDS - begun)) -lt 100 ]] || fail "a budget of 8 s was not kept"
: >"$RUNS"
scripts/mutate --sample 100 -j 1 src/tlp >stopped 2>&1 &
until [[ -s $RUNS || $((SECONDS - begun)) -gt 100 ]]; do
  sleep 0.1
done
kill -TERM $!
wait $! || fail "a signal ends it with $?"
grep -q "Stopped" stopped || fail "a signal does not stop it: $(<stopped)"
rm "$RUNS.slow"
sample 0 "1 of 1 mutants" -- --sample 1 -j 1 --budget 10m src/tlp
sample 0 "$summary" -- --sample 100 -j 1 --budget 10m src/tlp
[[ $(grep -c "unit .*Limits" "$RUNS") -eq 5 ]] || fail "a stopped run does not go on: $(<"$RUNS")"

# ---- a tree that fails by itself

sed -i 's/return a == b/return a != b/' src/tlp/limits.cpp
sample 1 "fails without a mutant: unit: Limits.Near" -- --sample 1 -j 1 src/tlp
exit "$((failures > 0))"
