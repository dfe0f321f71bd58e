// SPDX-License-Identifier: Apache-2.0
/// An agent whose changes of state go to a monitor.
#pragma once

#include "coherence/single_writer_monitor.h"

namespace flitwise {

/// What one agent tells its monitor.
class MonitoredAgent final : public LineStateListener {
 public:
  MonitoredAgent(SingleWriterMonitor& monitor, std::uint8_t agent)
      : monitor_(monitor), agent_(agent) {}
  void line_state(std::uint64_t line, LineState state) override {
    monitor_.told(agent_, line, state);
  }

 private:
  SingleWriterMonitor& monitor_;
  std::uint8_t agent_;
};

}  // namespace flitwise
