// SPDX-License-Identifier: Apache-2.0
// Names of the kinds of TLP as the standard spells them.
#include "flitwise/tlp.h"

namespace flitwise {

const char* name_of(TlpType type) {
  static constexpr std::array<const char*, kTlpTypes> kNames = {
      "MRd",  "MRdLk", "MWr",    "IORd",     "IOWr", "CfgRd0", "CfgWr0", "CfgRd1", "CfgWr1", "Cpl",
      "CplD", "CplLk", "CplDLk", "FetchAdd", "Swap", "CAS",    "DMWr",   "Msg",    "MsgD"};
  return kNames[static_cast<std::size_t>(type)];
}

}  // namespace flitwise
