// SPDX-License-Identifier: Apache-2.0
// Advanced error reporting: which bits an error sets and which message it sends.
#include "config_space/capabilities.h"

#include "flitwise/tlp.h"

namespace flitwise {

namespace aer = cfg::aer;
namespace pcie = cfg::pcie;

namespace {
constexpr std::uint32_t kUncorrectableBits = 0x007ff030;
constexpr std::uint32_t kFatalByDefault = 0x00462030;
constexpr std::uint32_t kCorrectableBits = 0x000031c1;
constexpr std::uint32_t kAdvisoryMasked = 1U << 13;

struct Blocks {
  std::uint16_t pcie;
  std::uint16_t aer;
};

Blocks blocks_of(const ConfigSpace& space) {
  return {space.find(cfg::kCapPcie).value(), space.find_extended(cfg::kExtAer).value()};
}

std::uint32_t field(const ConfigSpace& space, unsigned start, unsigned offset) {
  return space.read(static_cast<std::uint16_t>(start + offset));
}

void raise(ConfigSpace& space, unsigned start, unsigned offset, std::uint32_t bits) {
  space.set(static_cast<std::uint16_t>(start + offset), bits, bits);
}

bool may_report(const ConfigSpace& space, std::uint32_t enable) {
  const bool by_serr =
      enable != pcie::kReportCorrectable && (space.read(cfg::kCommand) & cfg::kCommandSerr) != 0;
  const std::uint16_t start = space.find(cfg::kCapPcie).value();
  return by_serr || (field(space, start, pcie::kDeviceControl) & enable) != 0;
}
}  // namespace

Capability aer_capability(bool is_root_port) {
  Capability capability;
  capability.id = cfg::kExtAer;
  capability.version = 2;
  capability.is_extended = true;
  capability.size = is_root_port ? 0x38 : 0x2c;
  capability.registers = {
      {aer::kUncorrectableStatus, 0, 0, kUncorrectableBits, kUncorrectableBits, 0},
      {aer::kUncorrectableMask, 0, kUncorrectableBits, 0, kUncorrectableBits, 0},
      {aer::kUncorrectableSeverity, kFatalByDefault, kUncorrectableBits, 0, kUncorrectableBits, 0},
      {aer::kCorrectableStatus, 0, 0, kCorrectableBits, kCorrectableBits, 0},
      {aer::kCorrectableMask, kAdvisoryMasked, kCorrectableBits, 0, kCorrectableBits, 0},
      {aer::kControl, 0, 0, 0, 0x1f, 0},
      {aer::kHeaderLog, 0, 0, 0, 0xffffffff, 0},
      {aer::kHeaderLog + 4, 0, 0, 0, 0xffffffff, 0},
      {aer::kHeaderLog + 8, 0, 0, 0, 0xffffffff, 0},
      {aer::kHeaderLog + 12, 0, 0, 0, 0xffffffff, 0},
  };
  if (is_root_port) {
    capability.registers.push_back({aer::kRootCommand, 0, 0x7, 0, 0, 0});
    capability.registers.push_back({aer::kRootStatus, 0, 0, 0x7f, 0x7f, 0});
    capability.registers.push_back({aer::kErrorSource, 0, 0, 0, 0xffffffff, 0});
  }
  capability.on_write = [](const RegisterWrite& write, WriteEffect& effect) {
    const bool is_status = write.offset == aer::kUncorrectableStatus ||
                           write.offset == aer::kCorrectableStatus ||
                           write.offset == aer::kRootStatus;
    effect.error_status_cleared |= is_status && write.before != write.after;
  };
  return capability;
}

std::optional<std::uint8_t> report_error(ConfigSpace& space, aer::Uncorrectable error,
                                         const std::array<std::uint32_t, 4>& header,
                                         const ConfigSpace* physical) {
  const Blocks at = blocks_of(space);
  const std::uint32_t bit = 1U << static_cast<unsigned>(error);
  const bool is_fatal = (field(space, at.aer, aer::kUncorrectableSeverity) & bit) != 0;
  const bool is_masked = (field(space, at.aer, aer::kUncorrectableMask) & bit) != 0;
  const bool is_unsupported = error == aer::Uncorrectable::kUnsupportedRequest;
  raise(space, at.pcie, pcie::kDeviceControl,
        (is_fatal ? pcie::kStatusFatal : pcie::kStatusNonFatal) |
            (is_unsupported ? pcie::kStatusUnsupported : 0U));
  // The log belongs to the first error: while its status bit stands, later ones leave it alone.
  const std::uint32_t first = field(space, at.aer, aer::kControl) & 0x1fU;
  const std::uint32_t pending = field(space, at.aer, aer::kUncorrectableStatus);
  if (!is_masked && (pending >> first & 1U) == 0) {
    space.set(static_cast<std::uint16_t>(at.aer + aer::kControl), 0x1f,
              static_cast<std::uint32_t>(error));
    for (unsigned dw = 0; dw < 4; ++dw) {
      space.set(static_cast<std::uint16_t>(at.aer + aer::kHeaderLog + 4 * dw), 0xffffffff,
                header[dw]);
    }
  }
  raise(space, at.aer, aer::kUncorrectableStatus, bit);
  const std::uint32_t enable = is_fatal         ? pcie::kReportFatal
                               : is_unsupported ? pcie::kReportUnsupported
                                                : pcie::kReportNonFatal;
  if (is_masked || !may_report(physical == nullptr ? space : *physical, enable)) {
    return std::nullopt;
  }
  return is_fatal ? msg::kErrFatal : msg::kErrNonFatal;
}

std::optional<std::uint8_t> report_error(ConfigSpace& space, aer::Correctable error) {
  const Blocks at = blocks_of(space);
  const std::uint32_t bit = 1U << static_cast<unsigned>(error);
  raise(space, at.pcie, pcie::kDeviceControl, pcie::kStatusCorrectable);
  raise(space, at.aer, aer::kCorrectableStatus, bit);
  const bool is_masked = (field(space, at.aer, aer::kCorrectableMask) & bit) != 0;
  if (is_masked || !may_report(space, pcie::kReportCorrectable)) {
    return std::nullopt;
  }
  return msg::kErrCor;
}

void note_error_message(ConfigSpace& root_port, std::uint8_t message_code, Bdf source) {
  const std::uint16_t start = root_port.find_extended(cfg::kExtAer).value();
  const auto status_at = static_cast<std::uint16_t>(start + aer::kRootStatus);
  const auto source_at = static_cast<std::uint16_t>(start + aer::kErrorSource);
  const std::uint32_t status = root_port.read(status_at);
  const bool is_correctable = message_code == msg::kErrCor;
  // Two bits each: received, and received again while the first still stood.
  const unsigned shift = is_correctable ? 0 : 2;
  const bool is_first = (status >> shift & 1U) == 0;
  std::uint32_t raised = (is_first ? 1U : 2U) << shift;
  if (message_code == msg::kErrFatal) {
    raised |= (is_first ? 1U << 4 : 0U) | 1U << 6;
  } else if (message_code == msg::kErrNonFatal) {
    raised |= 1U << 5;
  }
  root_port.set(status_at, raised, raised);
  if (is_first) {
    const unsigned half = is_correctable ? 0 : 16;
    root_port.set(source_at, 0xffffU << half, std::uint32_t{source.value} << half);
  }
}

}  // namespace flitwise
