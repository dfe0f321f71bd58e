// SPDX-License-Identifier: Apache-2.0
// When something is told, and what of the time left.
#include "results/run_progress_printer.h"

#include <fmt/format.h>

#include "results/text_table.h"

namespace flitwise {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds kFirstDrawing{2'000}, kBetweenDrawings{200}, kBetweenLines{10'000};
// The time left means something once requests have come for so long, and so many of them are over,
// or a hundredth of all.
constexpr milliseconds kLongEnough{2'000};
constexpr std::uint64_t kManyRequests = 1'000, kShareOfRequests = 100;

}  // namespace

std::string progress_text(const RunProgress& progress, const std::string& left) {
  const std::string simulated = time_text(progress.simulated.ns()) + " simulated";
  if (!progress.is_known()) {
    return simulated;
  }
  const auto percent = static_cast<unsigned>(static_cast<double>(progress.over) * 100 /
                                             static_cast<double>(progress.requests));
  return fmt::format("{} % of {} requests, {}{}{}", percent, with_thousands(progress.requests),
                     simulated, left.empty() ? "" : ", ", left);
}

RunProgressPrinter::RunProgressPrinter(std::FILE* file, bool is_terminal, Moment start)
    : line_(file, is_terminal), next_(start + (is_terminal ? kFirstDrawing : kBetweenLines)) {}

void RunProgressPrinter::show(const RunProgress& progress, Moment now) {
  if (progress.is_known() && !begin_) {
    begin_ = now;
  }
  if (now < next_) {
    return;
  }
  next_ = now + (line_.is_drawn_again() ? kBetweenDrawings : kBetweenLines);
  line_.show(progress_text(progress, time_left(progress, now)));
}

std::string RunProgressPrinter::time_left(const RunProgress& progress, Moment now) const {
  const std::uint64_t over = progress.over;
  const bool is_much = over >= kManyRequests || over * kShareOfRequests >= progress.requests;
  if (!begin_ || now - *begin_ < kLongEnough || over == 0 || !is_much ||
      over >= progress.requests) {
    return "";
  }
  return time_left_text(std::chrono::duration<double>(now - *begin_).count(),
                        static_cast<double>(over), static_cast<double>(progress.requests - over));
}

}  // namespace flitwise
