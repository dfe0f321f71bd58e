// SPDX-License-Identifier: Apache-2.0
// A process that does nothing but wake itself.
#include "system/bare_kernel.h"

#include <systemc>

#include <chrono>

namespace flitwise {
namespace {

class Ticker : public sc_core::sc_module {
 public:
  SC_HAS_PROCESS(Ticker);
  Ticker(const sc_core::sc_module_name& name, std::uint64_t notifications)
      : sc_core::sc_module(name), left_(notifications) {
    SC_METHOD(tick);
    sensitive << event_;
  }

 private:
  void tick() {
    if (left_ != 0) {
      --left_;
      event_.notify(step_);
    }
  }

  std::uint64_t left_;
  const sc_core::sc_time step_{1, sc_core::SC_NS};
  sc_core::sc_event event_{"event"};
};

}  // namespace

double kernel_notifications_per_second(std::uint64_t notifications) {
  const Ticker ticker("ticker", notifications);
  const auto start = std::chrono::steady_clock::now();
  sc_core::sc_start();
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
  return static_cast<double>(notifications) / took.count();
}

}  // namespace flitwise
