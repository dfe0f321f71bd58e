// SPDX-License-Identifier: Apache-2.0
// The text form of configuration space.
#include "config_space/config_dump.h"

#include <fmt/format.h>

#include <iterator>

namespace flitwise {
namespace {
constexpr unsigned kRowBytes = 16;
}

std::string config_dump(Bdf function, const ConfigSpace& space) {
  const std::uint32_t ids = space.read(cfg::kVendorId);
  const std::uint32_t revision_class = space.read(cfg::kRevisionClass);
  std::string text = fmt::format(
      "{:02x}:{:02x}.{} {:04x}: {:04x}:{:04x} (rev {:02x})\n", function.bus(), function.device(),
      function.function(), revision_class >> 16, ids & 0xffffU, ids >> 16, revision_class & 0xffU);
  for (unsigned row = 0; row < cfg::kSpaceBytes; row += kRowBytes) {
    fmt::format_to(std::back_inserter(text), "{:02x}:", row);
    for (unsigned offset = row; offset < row + kRowBytes; offset += 4) {
      const std::uint32_t dw = space.read(static_cast<std::uint16_t>(offset));
      for (unsigned byte = 0; byte < 4; ++byte) {
        fmt::format_to(std::back_inserter(text), " {:02x}", dw >> 8 * byte & 0xffU);
      }
    }
    text += '\n';
  }
  return text + '\n';
}

}  // namespace flitwise
