#!/usr/bin/env bash
# Each check of the source tree must accept a good tree and refuse one with a single fault in it.
set -euo pipefail

tree="$(mktemp -d)"
trap 'rm -rf -- "$tree"' EXIT
failures=0

make_good_tree() {
  rm -rf -- "${tree:?}"/*
  mkdir -p -- "$tree"/{include/flitwise,src/{tlp,cli},models/{link,fabric,system},tests,docs/rules}
  echo '#include <cstdint>' >"$tree/include/flitwise/tlp.h"
  echo '#include <systemc>' >"$tree/include/flitwise/link_socket.h"
  echo '#include "flitwise/tlp.h"' >"$tree/src/tlp/size.h"
  echo '#include "tlp/size.h"' >"$tree/src/tlp/size.cpp"
  echo '#include "flitwise/link_socket.h"' >"$tree/models/link/wire.h"
  printf '%s\n' 'class Wire final : public ComponentModule {' ' public:' '  explicit Wire(const LinkConfig& link);' '};' \
    >>"$tree/models/link/wire.h"
  echo '#include "link/wire.h"' >"$tree/models/fabric/builder.h"
  echo 'Wire wire{config};  // the builder knows types' >>"$tree/models/fabric/builder.h"
  echo 'Measurement::Measurement(const Config& config) {  // holds no Wire' >"$tree/models/system/measurement.cpp"
  echo '#include "fabric/builder.h"' >"$tree/src/cli/main.cpp"
  echo '- LNK-5.3 A rule. (source)' >"$tree/docs/rules/link.md"
  printf '// [LNK-5.3]\nnamespace flitwise::size_test {\n' >"$tree/tests/size_test.cpp"
  printf '<title>%s</title>\n' src/tlp'&#45;&gt;'include/flitwise models/link'&#45;&gt;'include/flitwise \
    models/fabric'&#45;&gt;'models/link src/cli'&#45;&gt;'models/fabric >"$tree/docs/includes.svg"
  echo 'See [the rules](rules/link.md).' >"$tree/docs/page.md"
  echo 'constexpr int kSize = 4;' >>"$tree/src/tlp/size.h"
  echo '| `kSize` | 4 | what it is | `src/tlp/size.h` | LNK-5.3 |' >"$tree/docs/unverified.md"
}

# accepts CHECK: the good tree passes.
accepts() {
  make_good_tree
  if ! "$FLITWISE_SOURCE_DIR/scripts/check_$1" "$tree"; then
    echo "FAILED: check_$1 refuses a good tree"
    failures=$((failures + 1))
  fi
}

# refuses CHECK FILE LINE: the good tree with LINE added to FILE does not pass, and FILE is named.
refuses() {
  local output
  make_good_tree
  printf '%s\n' "$3" >>"$tree/$2"
  if output="$("$FLITWISE_SOURCE_DIR/scripts/check_$1" "$tree" 2>&1)"; then
    echo "FAILED: check_$1 accepts '$3' in $2"
    failures=$((failures + 1))
  elif [[ $output != *"$2"* ]]; then
    echo "FAILED: check_$1 does not name $2: $output"
    failures=$((failures + 1))
  fi
}

accepts folders
refuses folders src/tlp/size.cpp '#include "cli/main.cpp"'$'\n#include "link/wire.h"'
refuses folders models/system/measurement.cpp '#include "tlp/size.h"'
refuses folders docs/includes.svg '<title>src/cli&#45;&gt;include/flitwise</title>'
accepts layers
refuses layers src/tlp/size.cpp '#include <systemc>'
refuses layers src/tlp/size.cpp '#include <tlm_utils/simple_initiator_socket.h>'
refuses layers src/tlp/size.cpp '#include "flitwise/link_socket.h"'
refuses layers src/tlp/size.cpp '#include "link/wire.h"'
refuses layers src/tlp/size.cpp '#include "size.h"'
refuses layers models/link/wire.h '#include "fabric/builder.h"'
refuses layers models/link/wire.h '#include <systemc.h>'
refuses layers include/flitwise/tlp.h '#include <tlm>'
refuses layers include/flitwise/tlp.h '#include "tlp/size.h"'
refuses layers models/link/wire.h $'class Other {\n  Other(const Config& config, int depth);'
refuses layers models/link/wire.h $'struct Other : Wire {\n  explicit Other(int depth,\n                 const Config& config);'
refuses layers models/link/wire.h "$(seq -f '// %g' 150)"
refuses layers models/system/measurement.cpp 'std::vector<Wire*> wires;'
refuses layers models/system/measurement.cpp 'const bool is_switch = port.name().find("sw") == 0;'
refuses layers models/link/wire.h 'unsigned index_ = std::stoi(name_.substr(2));'
refuses layers src/tlp/size.cpp 'if (std::string(port->name()).rfind("rp", 0) == 0) {'

# accepts_more CHECK FILE LINES: so does the good tree with LINES added to FILE.
accepts_more() {
  make_good_tree
  printf '%s\n' "$3" >>"$tree/$2"
  if ! "$FLITWISE_SOURCE_DIR/scripts/check_$1" "$tree"; then
    echo "FAILED: check_$1 refuses what it should accept in $2"
    failures=$((failures + 1))
  fi
}
accepts_more layers models/link/wire.h "$(seq -f '// %g' 150; echo '// Longer than 150 lines: two ends')"
accepts_more layers models/link/wire.h $'class Other {\n  Other(const LinkConfig& link, EndpointConfig own);'

accepts test_namespaces
refuses test_namespaces tests/other_test.cpp 'namespace flitwise {'
refuses test_namespaces tests/other_test.cpp 'namespace flitwise::size_test {'

cited='[LNK-5'
accepts spec_refs
refuses spec_refs src/tlp/size.cpp "// $cited.9]"
refuses spec_refs src/tlp/size.cpp "// $cited.3, 5.9]"
refuses spec_refs docs/rules/link.md '- LNK-5.3 The same id again.'

refuses spec_refs tests/size_test.cpp "TEST(Size, LNK_5_""9_IsNoRule) {"
refuses spec_refs tests/size_test.cpp "TEST(Size, INV_""9_IsNoRule) {"
refuses spec_refs tests/size_test.cpp "TEST(Size, IOM_5_""9_IsNoRule) {"
refuses spec_refs tests/size_test.cpp "TEST(Size, COH_5_""9_IsNoRule) {"

accepts rule_coverage
refuses rule_coverage docs/rules/link.md '- LNK-5.4 A rule that nobody tests. (source)'
refuses rule_coverage docs/rules/link.md '- DHI-07 A corner case that nobody tests.'
refuses rule_coverage docs/rules/link.md '- INV-07 A corner case that nobody tests.'

accepts doc_links
refuses doc_links docs/page.md 'See [nothing](rules/absent.md).'

accepts unverified
refuses unverified docs/unverified.md '| `kOther` | 4 | what it is | `src/tlp/size.h` | LNK-5.3 |'
refuses unverified docs/unverified.md '| `kSize` | 4 | what it is | `src/tlp/absent.h` | LNK-5.3 |'
refuses unverified docs/unverified.md '| `kSize` | 4 | what it is | nowhere | LNK-5.3 |'
refuses unverified docs/rules/link.md '- LNK-5.4 A rule. (memory)'
refuses unverified docs/rules/link.md '- LNK-5.4 A rule. (source; its code: unverified)'
refuses unverified src/tlp/size.cpp '// unverified'

# Headers compile alone, whatever they reach.
make_good_tree
sed -i '/^class Wire/,$d' "$tree/models/link/wire.h"
rm "$tree/models/fabric/builder.h"
"$FLITWISE_SOURCE_DIR/scripts/check_includes" "$tree" || { echo "FAILED: includes of good headers"; failures=$((failures + 1)); }
printf '#include <nlohmann/json.hpp>\nUnknown json();\n' >"$tree/src/tlp/json.h"
echo 'std::string plain();' >"$tree/src/tlp/plain.h"
echo 'struct { sc_core::sc_event event; Unknown other; };' >>"$tree/models/link/wire.h"
found="$("$FLITWISE_SOURCE_DIR/scripts/check_includes" "$tree" | grep -c 'does not compile alone' || true)"
[[ $found == 3 ]] || { echo "FAILED: includes: $found of 3 headers found"; failures=$((failures + 1)); }

accepts no_machine_paths
refuses no_machine_paths src/tlp/size.cpp "// see /""home/somebody/notes"

exit "$((failures > 0))"
