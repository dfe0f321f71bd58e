// SPDX-License-Identifier: Apache-2.0
/// Which resource limited requests: from the waits of a run and the way of the requests.
/// docs/explain.md has the rule.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "flitwise/result.h"

namespace flitwise {

/// A larger value of a key; empty where there is none.
using LargerValue = std::function<std::string(const std::string& key)>;

/// A row for each path of the run that had requests.
std::vector<ExplainResult> explain(const RunResult& result, const LargerValue& larger);

/// "rp0-ep0 up read: iommu0 walkers 93 %, next tags 5 %; try iommu.walkers=8".
std::string text_of(const ExplainResult& row);
/// All of them, a line each.
std::string text_of(const std::vector<ExplainResult>& rows);
/// The row with the highest share; null where there is none.
const ExplainResult* most_limited(const std::vector<ExplainResult>& rows);

}  // namespace flitwise
