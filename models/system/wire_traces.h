// SPDX-License-Identifier: Apache-2.0
/// The traces of a machine's wires: `packets` of all links, `pcapng` of all network ports. What a
/// run has not asked for is not there.
#pragma once

#include <memory>

#include "fabric/fabric.h"
#include "flitwise/config.h"
#include "trace/frame_capture.h"
#include "trace/trace_sink.h"

namespace flitwise {

class WireTraces {
 public:
  /// Makes their files. Throws std::system_error.
  explicit WireTraces(const TraceConfig& config);

  /// What passes from now on is recorded. The fabric is gone before this object is.
  void watch(Fabric& fabric) const;
  /// All so far is kept. Throws std::system_error where it could not be.
  void flush() const;

 private:
  std::unique_ptr<TraceSink> packets_;
  std::unique_ptr<FrameCapture> frames_;
};

}  // namespace flitwise
