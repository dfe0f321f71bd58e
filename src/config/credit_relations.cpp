// SPDX-License-Identifier: Apache-2.0
// What has to hold of shared credits.
#include "config/relations.h"

#include <string>

namespace flitwise::config {
namespace {

/// One class with the two kinds of credits that it has.
struct SharedClass {
  const char* name;
  std::uint32_t headers, data;                      // shared
  std::uint32_t dedicated_headers, dedicated_data;  // 0: infinite
};

void check_shared_class(const SharedClass& one, bool is_merged, BrokenRelations& broken) {
  const std::string shared = std::string("link.shared_credits.") + one.name;
  const std::string dedicated = std::string("link.credits.") + one.name;
  broken.add_if(
      one.headers == 0 && one.data > 0, {shared + "_headers", shared + "_data"},
      "shared data credits without headers; expected {}_headers of at least 1, or {}_data 0",
      shared, shared);
  const bool is_infinite =
      one.dedicated_headers == kInfiniteCredits || one.dedicated_data == kInfiniteCredits;
  broken.add_if((one.headers > 0 || is_merged) && is_infinite,
                {shared + "_headers", "link.shared_credits.merged", dedicated + "_headers",
                 dedicated + "_data"},
                "shared credits beside infinite ones; expected numbers for {}_headers and {}_data",
                dedicated, dedicated);
}

}  // namespace

void check_shared_credits(const Config& config, BrokenRelations& broken) {
  const auto& shared = config.link.shared_credits;
  const auto& dedicated = config.link.credits;
  const SharedClass posted = {"posted", shared.posted_headers, shared.posted_data,
                              dedicated.posted_headers, dedicated.posted_data};
  const SharedClass nonposted = {"nonposted", shared.nonposted_headers, shared.nonposted_data,
                                 dedicated.nonposted_headers, dedicated.nonposted_data};
  const SharedClass completion = {"completion", shared.completion_headers, shared.completion_data,
                                  dedicated.completion_headers, dedicated.completion_data};
  const auto has_some = [](const SharedClass& one) { return one.headers > 0 || one.data > 0; };
  const bool is_used =
      has_some(posted) || has_some(nonposted) || has_some(completion) || shared.merged;
  if (is_used && !config.link.is_in_flit_mode()) {
    broken.push_back(
        {{"link.shared_credits.posted_headers", "link.shared_credits.posted_data",
          "link.shared_credits.nonposted_headers", "link.shared_credits.nonposted_data",
          "link.shared_credits.completion_headers", "link.shared_credits.completion_data",
          "link.shared_credits.merged", "link.flit_mode", "link.preset", "link.carrier"},
         "shared credits without flit mode; expected link.shared_credits of 0, or link.flit_mode "
         "true"});
    return;
  }
  if (shared.merged && (shared.posted_headers == 0 || has_some(completion))) {
    broken.push_back(
        {{"link.shared_credits.merged", "link.shared_credits.posted_headers",
          "link.shared_credits.completion_headers", "link.shared_credits.completion_data"},
         "merged credits stand with those of posted requests; expected "
         "link.shared_credits.posted_headers of at least 1, and 0 for completions"});
    return;
  }
  check_shared_class(posted, shared.merged, broken);
  check_shared_class(nonposted, false, broken);
  check_shared_class(completion, shared.merged, broken);
}

}  // namespace flitwise::config
