// SPDX-License-Identifier: Apache-2.0
/// Turns what stands on the wires of one link into events, with the names that decode uses.
#pragma once

#include <string>

#include "script/script_output.h"
#include "trace/trace_sink.h"

namespace flitwise {

class WireWatch : public TraceSink {
 public:
  WireWatch(std::string link, ScriptOutput& output) : link_(std::move(link)), output_(output) {}
  void record(const TraceEvent& event) override;

 private:
  std::string link_;
  ScriptOutput& output_;
};

}  // namespace flitwise
