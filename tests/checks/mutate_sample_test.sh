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

# ---- a switch does what the changed text does

mkdir forms
cat >forms/forms.cpp <<'END'
extern "C" int printf(const char*, ...);
constexpr int kFour = 4;  // constant
int seen[kFour + 1];  // constant
struct Counter {
  int limit = 3;
  bool is_full(int n) const { return n >= limit && (n != 4 || limit == 0); }
};
int minus(int a, int b) { return a - b; }
constexpr int twice(int n) { return n < 10 ? 2 * n : 20; }  // constant
static_assert(twice(3) == 6);
int run(int n) {
  Counter counter;
  int sum = 0;
  int list[1024] = {}, size = 0;  // constant
  if (n == 2)
    sum += 100;
  else
    sum += 10;
  for (int i = 0; i < n && sum < 500; ++i) {
    if (counter.is_full(i)) {
      sum += minus(sum, i);
      continue;
    }
    list[size++] = minus(i, 2 * n);
  }
  switch (n) {
    case 1:  // constant
      sum += 1;
      break;
    case 3:  // constant
      sum += 3;
    default: sum += 5;
  }
  const int* first = size == 0 ? nullptr : &list[0];
  if (first) {
    sum += *first;
  }
  sum = sum < 0 ? -sum : sum;
  do ++sum;
  while (sum % 7 != 0);
  return sum + twice(n) + seen[1];
}
int main() {
  for (int n = 0; n < 6; ++n) {
    printf("%d ", run(n));
  }
}
END
cat >forms/compare.py <<'END'
import os, subprocess, sys
sys.path.insert(0, "scripts/mutation")
from operators import File, guard_all
source = open("forms/forms.cpp").read()
mutants = File("forms/forms.cpp", source).mutants()
CONSTANT = [i for i, line in enumerate(source.split("\n"), 1) if line.endswith("// constant")]
def program(name, text):
    open(f"forms/{name}.cpp", "w").write(text)
    command = ["g++", "-std=c++17", "-w", "-include", "scripts/mutation/switch.h", f"forms/{name}.cpp", "-o", f"forms/{name}"]
    return f"forms/{name}" if subprocess.run(command, stderr=subprocess.DEVNULL).returncode == 0 else None
def output(program, **environment):
    try:
        return subprocess.run([program], capture_output=True, timeout=2, env={**os.environ, **environment}).stdout
    except subprocess.TimeoutExpired:
        return "no end"
original, compared = output(program("original", source)), 0
assert original
together = []
for mutant in mutants:
    if not any(mutant.overlaps(other) for _, other in together):
        together.append((len(together) + 1, mutant))
numbers = {mutant.id: number for number, mutant in together}
all_of_them = program("together", guard_all(source, together)[0])
for mutant in mutants:
    number = numbers.get(mutant.id, 17)
    plain = program("plain", mutant.apply(source))
    guarded = all_of_them if mutant.id in numbers else program("guarded", guard_all(source, [(number, mutant)])[0])
    assert guarded or not plain, f"{mutant.line}: {mutant.new_text}: cannot be guarded"
    if not plain:
        continue
    compared += 1
    open("forms/log", "w").close()
    assert output(guarded, FLITWISE_MUTANT_LOG="forms/log") == original, f"{mutant.new_text}: changes without its number"
    reached = open("forms/log").read().split()
    assert len(reached) == len(set(reached)), reached
    if str(number) in reached and mutant.line not in CONSTANT:
        wanted, seen = output(plain), output(guarded, FLITWISE_MUTANT=str(number))
        assert wanted == seen, f"{mutant.line}: {mutant.new_text}: {wanted} and {seen}"
    else:
        assert mutant.line in CONSTANT, f"{mutant.line}: {mutant.new_text} is not reached"
assert compared > 60, compared
END
python3 -B forms/compare.py >forms/output 2>&1 || fail "a switch: $(<forms/output)"

# ---- verdicts: each function is tested by what its name says

cat >CMakeLists.txt <<'END'
cmake_minimum_required(VERSION 3.20)
project(tiny LANGUAGES CXX)
enable_testing()
include_directories(src)
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
add_test(NAME Model.Skipped COMMAND ${CMAKE_COMMAND} -E false)
add_test(NAME Model.Fails COMMAND ${CMAKE_COMMAND} -E false)
add_test(NAME looks_at_sources COMMAND ${CMAKE_COMMAND} -E false)
set_tests_properties(Model.Equal PROPERTIES LABELS "ci;model" ENVIRONMENT "WITH=this")
set_tests_properties(Model.Skipped PROPERTIES LABELS "ci;model" SKIP_RETURN_CODE 1)
set_tests_properties(Model.Fails PROPERTIES LABELS "ci;model")
set_tests_properties(looks_at_sources PROPERTIES LABELS "ci;checks")
END
cat >src/tlp/limits.cpp <<'END'
// What is equal. [LNK-7.2]
#include "tlp/limits.h"
bool by_unit_near(int a, int b) { return a == b; }
bool by_unit_far(int a, int b) { return a == b; }
bool by_case_near(int a, int b) { return a == b; }
bool by_case_far(int a, int b) { return a == b; }
bool by_model(int a, int b) { return a == b; }
bool unnoticed(int a, int b) { return a == b; }
bool by_none(int a, int b) { return a == b; }
constexpr int kNotUsed = 0;
int of(int, const char* b) { return *b; }
int never_called(int a, const char* b) { return of(a, b); }
bool the_same(unsigned a) { return a >= 0 || true; }
bool in_template(int a, const char* b) { return with(a, b); }
END
cat >src/tlp/limits.h <<'END'
inline bool first_of(int a, const char*) { return a; }
template <typename A, typename B>
bool with(A a, B b) { return first_of(a, b); }
END
cat >src/declared.h <<'END'
#include <unistd.h>
#include <cstdio>
#include <cstdlib>
#include <string>
bool by_unit_near(int, int), by_unit_far(int, int), by_case_near(int, int), by_case_far(int, int), by_model(int, int);
bool unnoticed(int, int), the_same(unsigned);
inline std::string noted(const char* name, int count, char** words) {
  const char* mutant = std::getenv("FLITWISE_MUTANT");
  std::string line = std::string(name) + " " + (mutant ? mutant : "none");
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
  if (count == 2 && std::string(words[1]) == "--gtest_list_tests") {
    std::puts("Limits.\n  Near\n  DISABLED_Near\nOther.\n  Far  # GetParam() = 1");
    return 0;
  }
  const std::string line = noted("unit", count, words);
  const bool all = line.find("filter") == std::string::npos;
  if ((all || line.find("Limits.") != std::string::npos) && !by_unit_near(1, 1)) {
    std::puts("[  FAILED  ] Limits.Near (0 ms)");
    return 1;
  }
  if (all || line.find("Other.") != std::string::npos) {
    if (access((std::string(std::getenv("RUNS")) + ".slow").c_str(), F_OK) == 0) {
      sleep(200);
    }
    unnoticed(1, 1);
    if (!by_unit_far(1, 1) || !the_same(1)) {
      std::puts("[  FAILED  ] Other.Far (0 ms)");
      return 1;
    }
  }
}
END
cat >tests/model_tests.cpp <<'END'
#include "../src/declared.h"
int main(int count, char** words) {
  noted("model", count, words);
  return std::getenv("WITH") && by_model(1, 1) ? 0 : 1;
}
END
cat >src/cli/program.cpp <<'END'
#include "../declared.h"
int main(int count, char** words) {
  const std::string line = noted("program", count, words);
  const bool all = line.find(".yaml") == std::string::npos;
  if ((all || line.find("near.yaml") != std::string::npos) && !by_case_near(1, 1)) {
    std::puts("FAIL  LNK-7.2/near  Near (1 ms)");
    return 1;
  }
  if ((all || line.find("far.yaml") != std::string::npos) && !by_case_far(1, 1)) {
    std::puts("FAIL  IOM-1.1  Far (1 ms)");
    return 1;
  }
}
END
echo 'TEST(Limits, Near) {}' >tests/unit/tlp/limits_test.cpp
echo 'cites: [IOM-1.1, LNK-7.2]' >tests/cases/tlp/near.yaml
longer=LNK-7.22   # no rule of docs, so that it does not stand in brackets
echo "cites: [$longer, IOM-1.1]" >tests/cases/tlp/far.yaml

# ran N PATTERN: so many lines of RUNS match it.
ran() { [[ $(grep -cE "$2" "$RUNS") -eq $1 ]] || fail "not $1 runs of '$2': $(<"$RUNS")"; }

summary="7 of 100 mutants: 5 killed (71.4 %), 2 survived; apart from them 5 equivalent and 3 that do not compile"
sample 0 \
  "warning: Model.Fails fails without a mutant, so that it does not count" \
  "killed      comparison  src/tlp/limits.cpp:3  unit: Limits.Near" \
  "killed      comparison  src/tlp/limits.cpp:4  unit: Other.Far" \
  "killed      comparison  src/tlp/limits.cpp:5  cases: LNK-7.2/near" \
  "killed      comparison  src/tlp/limits.cpp:6  cases: IOM-1.1" \
  "killed      comparison  src/tlp/limits.cpp:7  rest: Model.Equal" \
  "equivalent  constant    src/tlp/limits.cpp:10" \
  "equivalent  logic       src/tlp/limits.cpp:13" \
  "src/tlp/limits.cpp:8  comparison  bool unnoticed(int a, int b) { return a == b; }  ->  bool unnoticed(int a, int b) { return a != b; }" \
  "src/tlp/limits.cpp:9  comparison  bool by_none(int a, int b) { return a == b; }  ->  bool by_none(int a, int b) { return a != b; }" \
  "$summary" -- --sample 100 -j 1 src/tlp
# Each test ran once without a mutant, once with each that it reaches; and for what no test reaches, as a program of its own.
ran 1 "^unit none .*Limits\.Near"
ran 1 "^unit [0-9]+ .*Limits\.Near"
ran 1 "^unit none .*Other\.Far"
ran 3 "^unit [0-9]+ .*Other\.Far"
ran 1 "^unit none .*Limits\.\*"
ran 2 "^program none .*near.yaml"
ran 1 "^program none .*far.yaml"
ran 2 "^program [0-9]+ .*yaml"
ran 1 "^program none .*cases$"
ran 2 "^model none"
ran 2 "^model [0-9]+"
diff -r src build/mutate/sample/tree/src || fail "a mutant was left behind"

# ---- a second call

sample 0 "$summary" "rest: Model.Equal" -- --sample 100 -j 1 src/tlp
[[ ! -s $RUNS ]] || fail "the same mutants were tried again: $(<"$RUNS")"
echo "// Changed." >>tests/model_tests.cpp
sample 0 "$summary" -- --sample 100 -j 1 src/tlp
ran 1 "^unit none .*Limits\.Near"
ran 0 "^unit [0-9]+ .*Limits\.Near"
ran 1 "^unit [0-9]+ .*Other\.Far"
ran 2 "^model none"
sed -i 's/by_none(int a, int b)/by_none(int b, int a)/' src/tlp/limits.cpp
sample 0 "$summary" -- --sample 100 -j 1 src/tlp
ran 1 "^unit [0-9]+ .*Limits\.Near"

# ---- a budget

touch "$RUNS.slow"
begun=$SECONDS
sample 0 "Stopped; the same call goes on." "0 of 100 mutants: 0 killed, 0 survived" -- --sample 100 -j 1 --budget 8s --fresh src/tlp
[[ $((SECONDS - begun)) -lt 100 ]] || fail "a budget of 8 s was not kept"
: >"$RUNS"
scripts/mutate --sample 100 -j 1 src/tlp >stopped 2>&1 &
until grep -q Other.Far "$RUNS" || [[ $((SECONDS - begun)) -gt 180 ]]; do
  sleep 0.1
done
kill -TERM $!
wait $! || fail "a signal ends it with $?"
grep -q "Stopped" stopped || fail "a signal does not stop it: $(<stopped)"
rm "$RUNS.slow"
sample 0 "$summary" -- --sample 100 -j 1 --budget 10m src/tlp
ran 0 "^unit none .*Limits\.Near"   # a stopped run goes on
ran 1 "^unit none .*Other\.Far"
sample 0 "1 of 1 mutants" -- --sample 1 -j 1 --budget 10m src/tlp

# ---- a tree that fails by itself

sed -i 's/return a == b/return a != b/' src/tlp/limits.cpp
sample 1 "fails without a mutant: unit: Limits.Near" -- --sample 1 -j 1 src/tlp
exit "$((failures > 0))"
