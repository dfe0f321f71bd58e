// SPDX-License-Identifier: Apache-2.0
// MSI-X capability: where table and pending bits stand, and the two enables.
#include "config_space/capabilities.h"

#include <string>

#include "flitwise/error.h"

namespace flitwise {

Capability msix_capability(const MsixOptions& options) {
  FLITWISE_CHECK(options.vectors >= 1 && options.vectors <= 2048 && options.bar <= 5,
                 "MSI-X vectors " + std::to_string(options.vectors));
  Capability capability;
  capability.id = cfg::kCapMsix;
  capability.size = 12;
  capability.registers = {
      {cfg::msix::kControlDw, (options.vectors - 1) << 16,
       cfg::msix::kEnable | cfg::msix::kFunctionMask, 0, 0, 0},
      {cfg::msix::kTable, (options.table_offset & ~7U) | options.bar, 0, 0, 0, 0},
      {cfg::msix::kPba, (options.pba_offset & ~7U) | options.bar, 0, 0, 0, 0},
  };
  capability.on_write = [](const RegisterWrite& write, WriteEffect& effect) {
    effect.msix_changed |= write.before != write.after;
  };
  return capability;
}

}  // namespace flitwise
