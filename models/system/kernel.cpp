// SPDX-License-Identifier: Apache-2.0
// sc_main for every program that links the models and has none of its own: it runs the body given
// to run_in_kernel.
#include "system/kernel.h"

#include <systemc>

#include <chrono>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <iostream>
#include <system_error>

#include "flitwise/error.h"

namespace flitwise {
namespace {

const std::function<int()>* kernel_body = nullptr;
std::exception_ptr kernel_failure;
std::exception_ptr bad_file;  // that a process met

/// A file that has changed since it was checked, and one that cannot be written, are the user's
/// matter, and no error of the simulation, as which the kernel would report the exception of a
/// process.
void note_bad_file(const sc_core::sc_report& report) {
  if (std::strcmp(report.get_msg_type(), sc_core::SC_ID_SIMULATION_UNCAUGHT_EXCEPTION_) != 0) {
    return;
  }
  try {
    throw;
  } catch (const ConfigError&) {
    bad_file = std::current_exception();
  } catch (const std::system_error&) {
    bad_file = std::current_exception();
  } catch (...) {  // stays what the kernel says of it
  }
}

/// What the kernel has to say belongs on stderr: stdout may be a result.
void say_on_stderr(const sc_core::sc_report& report, const sc_core::sc_actions& actions) {
  note_bad_file(report);
  if ((actions & sc_core::SC_DISPLAY) != 0) {
    std::cerr << '\n' << sc_core::sc_report_compose_message(report) << '\n';
  }
  sc_core::sc_report_handler::default_handler(report, actions & ~sc_core::SC_DISPLAY);
}

/// A process that does nothing but wake itself.
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

int run_in_kernel(const std::function<int()>& body) {
  setenv("SYSTEMC_DISABLE_COPYRIGHT_MESSAGE", "1", 0);
  kernel_body = &body;
  char name[] = "flitwise";
  char* arguments[] = {name, nullptr};
  const int code = sc_core::sc_elab_and_sim(1, arguments);
  if (kernel_failure) {
    std::rethrow_exception(kernel_failure);
  }
  return code;
}

void prepare_kernel() {
  sc_core::sc_set_time_resolution(1, sc_core::SC_FS);
  sc_core::sc_report_handler::set_handler(say_on_stderr);
  // Letting no time pass in a quiet machine is nothing to warn of.
  sc_core::sc_report_handler::set_actions(sc_core::SC_ID_NO_SC_START_ACTIVITY_,
                                          sc_core::SC_DO_NOTHING);
}

double kernel_notifications_per_second(std::uint64_t notifications) {
  const Ticker ticker("ticker", notifications);
  const auto start = std::chrono::steady_clock::now();
  sc_core::sc_start();
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
  return static_cast<double>(notifications) / took.count();
}

}  // namespace flitwise

// Weak: a program of a library user may have one.
[[gnu::weak]] int sc_main(int /*argc*/, char** /*argv*/) {
  flitwise::prepare_kernel();
  try {
    return (*flitwise::kernel_body)();
  } catch (...) {
    flitwise::kernel_failure = flitwise::bad_file ? flitwise::bad_file : std::current_exception();
    return 3;
  }
}
