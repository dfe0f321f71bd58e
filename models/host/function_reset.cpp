// SPDX-License-Identifier: Apache-2.0
// The steps of a function level reset, one after the other.
#include "host/function_reset.h"

#include <utility>

#include "config_space/registers.h"
#include "host/handle_driver.h"

namespace flitwise {

// From the last step to the first: each one holds those behind it.
void reset_function(HostAccess& bridge, const FunctionResetOptions& options,
                    std::function<void(HandleStatus)> done) {
  const auto end = [&bridge, options, done = std::move(done)](HandleStatus status) {
    if (!options.enables) {
      done(status);
      return;
    }
    bridge.config({true, options.function, cfg::kCommand, cfg::kCommandBusMaster, 0x3},
                  [done, status](const HostAnswer&) { done(status); });
  };
  const auto clear_host = [&bridge, options, end](const HostAnswer&) {
    DeallocMessage message;
    message.scope = options.is_first ? DeallocScope::kAll : DeallocScope::kFunction;
    message.function = options.function;
    const std::uint64_t block = handle_block(options.host_block);
    write_command(bridge, block, message);
    bridge.read(block + handle_register::kStatus, 4, [end](const HostAnswer& answer) {
      end(static_cast<HandleStatus>(answer.value() & 0xfU));
    });
  };
  // The function answers with Request Retry Status until all that it had under way has ended.
  const auto wait = [&bridge, function = options.function, clear_host](const HostAnswer&) {
    bridge.config(CfgAccess::read_of(function, cfg::kVendorId), clear_host);
  };
  const auto control = static_cast<std::uint16_t>(options.pcie + cfg::pcie::kDeviceControl);
  bridge.config(CfgAccess::read_of(options.function, control),
                [&bridge, function = options.function, control, wait](const HostAnswer& answer) {
                  const std::uint32_t value = answer.value() | cfg::pcie::kInitiateFlr;
                  bridge.config({true, function, control, value, 0x3}, wait);
                });
}

}  // namespace flitwise
