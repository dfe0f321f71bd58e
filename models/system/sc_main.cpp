// SPDX-License-Identifier: Apache-2.0
// sc_main for every program that links the models: it runs the body given to run_in_kernel.
#include "system/kernel.h"

#include <systemc>

#include <cstdlib>
#include <exception>

namespace flitwise {
namespace {
const std::function<int()>* kernel_body = nullptr;
std::exception_ptr kernel_failure;
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

}  // namespace flitwise

int sc_main(int /*argc*/, char** /*argv*/) {
  sc_core::sc_set_time_resolution(1, sc_core::SC_FS);
  // Letting no time pass in a quiet machine is nothing to warn of, least of all on stdout.
  sc_core::sc_report_handler::set_actions(sc_core::SC_ID_NO_SC_START_ACTIVITY_,
                                          sc_core::SC_DO_NOTHING);
  try {
    return (*flitwise::kernel_body)();
  } catch (...) {
    flitwise::kernel_failure = std::current_exception();
    return 3;
  }
}
