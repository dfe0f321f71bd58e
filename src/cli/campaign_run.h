// SPDX-License-Identifier: Apache-2.0
/// flitwise conform --campaign: many seeds, and small cases for those that fail.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace flitwise::cli {

struct CampaignOptions {
  std::uint64_t seeds = 0;
  std::uint64_t first_seed = 1;
  std::vector<std::string> sets;
  std::string folder = "campaign";  ///< where the cases of failing seeds go
  unsigned jobs = 1;
};

/// Returns the exit code: 1 where a seed failed.
int run_campaign(const CampaignOptions& options);

}  // namespace flitwise::cli
