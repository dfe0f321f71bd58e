// SPDX-License-Identifier: Apache-2.0
// The first byte is how many DWs belong to a TLP before; the rest are the TLP bytes and DLPs of
// flits. What is read from them as JSON makes flits in which the same is read again.
#include <algorithm>

#include "codec/flit_json.h"
#include "flitwise/error.h"
#include "fuzz/fuzz_support.h"

namespace flitwise {
namespace {

std::vector<FlitBytes> flits_of(const std::vector<std::uint8_t>& bytes) {
  std::vector<FlitBytes> flits;
  for (std::size_t at = 0; at < bytes.size(); at += kFlitCrcAt) {
    FlitBytes flit{};
    std::copy_n(bytes.begin() + static_cast<std::ptrdiff_t>(at),
                std::min(kFlitCrcAt, bytes.size() - at), flit.begin());
    protect_flit(flit);
    flits.push_back(flit);
  }
  return flits;
}

std::vector<FlitPlan> plans_of(const std::vector<Json>& flits) {
  std::vector<FlitPlan> plans;
  for (const Json& flit : flits) {
    plans.push_back(flit_plan_from_json(flit, {}));
  }
  return plans;
}

void check(const std::vector<FlitBytes>& flits, std::uint64_t rest_dw) {
  FlitReadOptions options{rest_dw, true};
  const FlitsRead read = read_flits(flits, options);
  if (read.flaw) {
    FLITWISE_PROPERTY(read.flaw_flit < flits.size() && read.flaw->offset < flit::kBytes);
    FLITWISE_PROPERTY(!read.flaw->kind.empty() && !read.flaw->sentence.empty());
    options.checks = false;
  }
  const FlitsRead any = read_flits(flits, options);
  if (any.flaw) {
    return;
  }
  std::vector<FlitBytes> written;
  try {
    for (const WrittenFlit& flit : FlitWriter().write(plans_of(any.flits))) {
      written.push_back(flit.bytes);
    }
  } catch (const ConfigError&) {
    FLITWISE_PROPERTY(read.flaw.has_value());  // eight starts a half are all that a packer makes
    return;
  }
  const FlitsRead again = read_flits(written, options);
  FLITWISE_PROPERTY(read.flaw || (!again.flaw && again.flits == any.flits));
}

}  // namespace
}  // namespace flitwise

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size > 1) {
    const auto bytes = flitwise::fuzz::bytes_of_input(data + 1, size - 1);
    flitwise::check(flitwise::flits_of(bytes), data[0]);
  }
  return 0;
}
