// SPDX-License-Identifier: Apache-2.0
/// A run that ends once figures are known (run.until: converged). It looks at running sums of the
/// measured window each time that some requests are over; the statistics are those of BatchMeans.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "fabric/fabric.h"
#include "flitwise/config.h"
#include "flitwise/result.h"
#include "stats/batch_means.h"
#include "trace/latency_tracer.h"

namespace flitwise {

class Convergence {
 public:
  /// Does a machine of that configuration wait for figures? Where requests are no DMA of a workload
  /// that may end early, the key has no effect, which the reader of the configuration says.
  static bool is_wanted(const Config& config) {
    return config.run.until == RunUntil::kConverged && config.workload.via == WorkloadVia::kDma &&
           config.workload.kind != WorkloadKind::kTrace &&
           config.workload.kind != WorkloadKind::kHostile;
  }
  /// Fabric and tracer outlive it.
  Convergence(const ConvergedConfig& config, const Fabric& fabric, const LatencyTracer& tracer);

  /// To be called after the first measured request that is over, and then after as many as it says.
  std::uint64_t look(Time now);
  /// All figures are: the run may end, and no look counts any more.
  bool is_known() const { return is_known_; }
  void report(RunResult& result) const;

 private:
  /// Of a figure, since the begin of the run: what it is the quotient of.
  struct Sums {
    double numerator = 0, denominator = 0;
  };
  struct Figure {
    ConvergingFigure name;
    std::function<Sums(Time now)> sums;
    BatchMeans means;
    Sums before;
  };
  static std::function<Sums(Time)> sums_of(ConvergingFigure figure, const FabricLink& link,
                                           const LatencyTracer& tracer);

  std::vector<Figure> figures_;
  std::uint64_t each_;        // requests an observation
  std::size_t together_ = 0;  // observations since the last look; 0: there was none
  bool is_known_ = false;
};

}  // namespace flitwise
