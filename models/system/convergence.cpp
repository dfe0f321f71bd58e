// SPDX-License-Identifier: Apache-2.0
#include "system/convergence.h"

#include <algorithm>
#include <limits>

#include "config/names.h"

namespace flitwise {

// The window of a direction is not over: its figures are those so far.
std::function<Convergence::Sums(Time)> Convergence::sums_of(ConvergingFigure figure,
                                                            const FabricLink& link,
                                                            const LatencyTracer& tracer) {
  const bool is_up =
      figure == ConvergingFigure::kUpGoodput || figure == ConvergingFigure::kUpEfficiency;
  switch (figure) {
    case ConvergingFigure::kUpGoodput:
    case ConvergingFigure::kDownGoodput:
      return [&link, is_up](Time now) {
        const LinkResult result = link.link->result();
        const DirectionResult& way = is_up ? result.up : result.down;
        return Sums{8 * static_cast<double>(way.payload_bytes), now.ns()};
      };
    case ConvergingFigure::kUpEfficiency:
    case ConvergingFigure::kDownEfficiency:
      return [&link, is_up](Time) {
        const LinkResult result = link.link->result();
        const WireBits& bits = is_up ? result.up.bits : result.down.bits;
        return Sums{static_cast<double>(bits.payload),
                    static_cast<double>(bits.total() - bits.idle)};
      };
    case ConvergingFigure::kReadLatency:
      return [&tracer](Time) { return Sums{tracer.reads().sum_ns(), tracer.reads().samples()}; };
    case ConvergingFigure::kWriteLatency: break;
  }
  return [&tracer](Time) { return Sums{tracer.writes().sum_ns(), tracer.writes().samples()}; };
}

Convergence::Convergence(const ConvergedConfig& wanted, const Fabric& fabric,
                         const LatencyTracer& tracer)
    : each_((wanted.min_requests + BatchMeans::kFirst - 1) / BatchMeans::kFirst) {
  const FabricLink& link = fabric.links.front();
  for (std::size_t i = 0; i < config::kNames<ConvergingFigure>.size(); ++i) {
    if ((wanted.figures >> i & 1U) != 0) {
      const auto name = static_cast<ConvergingFigure>(i);
      figures_.push_back({name,
                          sums_of(name, link, tracer),
                          BatchMeans({wanted.tolerance, wanted.confidence}),
                          {}});
    }
  }
}

// What is sent, or read, until the first look is no part of any observation.
std::uint64_t Convergence::look(Time now) {
  std::size_t next = std::numeric_limits<std::size_t>::max();
  bool all_known = together_ > 0;
  for (Figure& figure : figures_) {
    const Sums sums = figure.sums(now);
    if (together_ > 0) {
      figure.means.add(sums.numerator - figure.before.numerator,
                       sums.denominator - figure.before.denominator, together_);
    }
    figure.before = sums;
    next = std::min(next, figure.means.together());
    all_known = all_known && figure.means.is_known();
  }
  together_ = next;
  is_known_ = all_known;
  return together_ * each_;
}

void Convergence::report(RunResult& result) const {
  for (const Figure& figure : figures_) {
    const BatchMeans::Estimate estimate = figure.means.estimate();
    result.rows<ConvergedResult>().push_back({config::spelling(figure.name), estimate.mean,
                                              estimate.half_width, estimate.batches,
                                              estimate.is_known});
  }
}

}  // namespace flitwise
