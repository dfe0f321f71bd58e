// SPDX-License-Identifier: Apache-2.0
/// What `flitwise run` prints and `flitwise report` shows to people: which bytes went where,
/// latencies, handles, stalls, errors, and which resource limited requests: docs/explain.md has the
/// rule.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "flitwise/result.h"
#include "results/result_json.h"
#include "results/text_table.h"

namespace flitwise {

/// Lines, each with its end, or a table.
struct SummaryPart {
  std::string lines;
  bool is_bad = false;  ///< the lines say that something failed
  std::optional<TextTable> table = {};
};

/// What a reader sees of a run, in its order: terminal and report are made from it. Every number
/// has its unit. Parts that have nothing to say are left out.
std::vector<SummaryPart> summary_parts(const RunResult& result, RunEnd end = RunEnd::kComplete);

/// The same as text, behind a line of the run itself. `width`: columns of the terminal.
std::string summary_text(const RunResult& result, RunEnd end = RunEnd::kComplete,
                         std::size_t width = 0);

/// A sentence where TLPs or messages were sent, no request was over with success and something was
/// refused; empty otherwise, and where devices are hostile: to be refused is what they are for.
std::string refusal_text(const RunResult& result);

/// Why goodput and utilisation of a direction do not fit together: one line for each direction
/// whose window goes on for more than a few percent after its last symbol; empty where none does.
std::string drain_text(const RunResult& result);

/// Given a limit with its place and the key of its resource: makes the key the one to set for that
/// place, and adds a larger value; empty where there is none.
using Advice = std::function<void(Limit&)>;

/// A row for each path of the run that had requests.
std::vector<ExplainResult> explain(const RunResult& result, const Advice& advise);

/// "rp0-ep0 up read: iommu0 walkers 93 %, next ep0 tags 5 %; try iommu.walkers=8".
std::string text_of(const ExplainResult& row);
/// All of them, a line each.
std::string text_of(const std::vector<ExplainResult>& rows);
/// The row with the highest share times its requests; null where there is none.
const ExplainResult* most_limited(const std::vector<ExplainResult>& rows);

}  // namespace flitwise
