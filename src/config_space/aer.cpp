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
constexpr std::uint32_t kAdvisory = 1U << 13;  // masked after reset
constexpr std::uint32_t kFirstErrorPointer = 0x1f;
constexpr std::uint32_t kEcrcCapable = aer::kEcrcGenerationCapable | aer::kEcrcCheckCapable;
constexpr std::uint32_t kEcrcEnables = aer::kEcrcGenerationEnable | aer::kEcrcCheckEnable;

struct Blocks {
  std::uint16_t pcie;
  std::uint16_t aer;
};

Blocks blocks_of(const ConfigSpace& space) {
  return {space.find(cfg::kCapPcie).value(), space.find_extended(cfg::kExtAer).value()};
}

std::uint32_t field(const ConfigSpace& space, std::uint16_t start, unsigned offset) {
  return space.read(register_at(start, offset));
}

void raise(ConfigSpace& space, std::uint16_t start, unsigned offset, std::uint32_t bits) {
  space.set(register_at(start, offset), bits, bits);
}

bool has_serr(const ConfigSpace& space) {
  return (space.read(cfg::kCommand) & cfg::kCommandSerr) != 0;
}

bool has_enables(const ConfigSpace& space, std::uint32_t enables) {
  const std::uint16_t start = space.find(cfg::kCapPcie).value();
  return (field(space, start, pcie::kDeviceControl) & enables) == enables;
}

// The log belongs to the first error: while its status bit stands, later ones leave it alone.
void log_first(ConfigSpace& space, std::uint16_t start, const FoundError& found) {
  const std::uint32_t first = field(space, start, aer::kControl) & kFirstErrorPointer;
  const std::uint32_t pending = field(space, start, aer::kUncorrectableStatus);
  if ((pending >> first & 1U) != 0) {
    return;
  }
  space.set(register_at(start, aer::kControl), kFirstErrorPointer,
            static_cast<std::uint32_t>(found.error));
  for (unsigned dw = 0; dw < 4; ++dw) {
    space.set(register_at(start, aer::kHeaderLog + 4 * dw), 0xffffffff, found.header[dw]);
  }
}
}  // namespace

Capability aer_capability(bool is_root_port, bool has_ecrc) {
  Capability capability = Capability::extended(
      cfg::kExtAer, is_root_port ? 0x38 : 0x2c,
      {
          {aer::kUncorrectableStatus, 0, 0, kUncorrectableBits, kUncorrectableBits},
          {aer::kUncorrectableMask, 0, kUncorrectableBits, 0, kUncorrectableBits},
          {aer::kUncorrectableSeverity, kFatalByDefault, kUncorrectableBits, 0, kUncorrectableBits},
          {aer::kCorrectableStatus, 0, 0, kCorrectableBits, kCorrectableBits},
          {aer::kCorrectableMask, kAdvisory, kCorrectableBits, 0, kCorrectableBits},
          {aer::kControl, has_ecrc ? kEcrcCapable : 0U, has_ecrc ? kEcrcEnables : 0U, 0,
           kFirstErrorPointer | kEcrcEnables},
          {aer::kHeaderLog, 0, 0, 0, 0xffffffff},
          {aer::kHeaderLog + 4, 0, 0, 0, 0xffffffff},
          {aer::kHeaderLog + 8, 0, 0, 0, 0xffffffff},
          {aer::kHeaderLog + 12, 0, 0, 0, 0xffffffff},
      });
  capability.version = 2;
  if (is_root_port) {
    capability.registers.push_back({aer::kRootCommand, 0, 0x7});
    capability.registers.push_back({aer::kRootStatus, 0, 0, 0x7f, 0x7f});
    capability.registers.push_back({aer::kErrorSource, 0, 0, 0, 0xffffffff});
  }
  capability.on_write = [](const RegisterWrite& write, WriteEffect& effect) {
    const bool is_status = write.offset == aer::kUncorrectableStatus ||
                           write.offset == aer::kCorrectableStatus ||
                           write.offset == aer::kRootStatus;
    effect.error_status_cleared |= is_status && write.before != write.after;
    effect.ecrc_control_changed |= write.offset == aer::kControl && write.before != write.after;
  };
  return capability;
}

EcrcControl ecrc_control(const ConfigSpace& space) {
  const std::uint32_t control = field(space, blocks_of(space).aer, aer::kControl);
  return {(control & aer::kEcrcGenerationEnable) != 0, (control & aer::kEcrcCheckEnable) != 0};
}

// Pointer 0 names no error.
void forget_cleared_error(ConfigSpace& space) {
  log_first(space, space.find_extended(cfg::kExtAer).value(), {aer::Uncorrectable{}});
}

// An advice is booked as uncorrectable where it is not masked, and told of as a correctable error.
// [LNK-12.9]
std::optional<std::uint8_t> report_error(ConfigSpace& space, const FoundError& found,
                                         const ConfigSpace* physical) {
  const Blocks at = blocks_of(space);
  const ConfigSpace& enables = physical == nullptr ? space : *physical;
  const std::uint32_t bit = 1U << static_cast<unsigned>(found.error);
  const bool is_fatal = (field(space, at.aer, aer::kUncorrectableSeverity) & bit) != 0;
  const bool is_advice = found.is_advisory && !is_fatal;
  const bool is_unsupported = found.error == aer::Uncorrectable::kUnsupportedRequest;
  raise(space, at.pcie, pcie::kDeviceControl,
        (is_advice  ? pcie::kStatusCorrectable
         : is_fatal ? pcie::kStatusFatal
                    : pcie::kStatusNonFatal) |
            (is_unsupported ? pcie::kStatusUnsupported : 0U));
  if (is_advice) {
    raise(space, at.aer, aer::kCorrectableStatus, kAdvisory);
    if ((field(space, at.aer, aer::kCorrectableMask) & kAdvisory) != 0) {
      return std::nullopt;
    }
  }
  const bool is_masked = (field(space, at.aer, aer::kUncorrectableMask) & bit) != 0;
  if (!is_masked) {
    log_first(space, at.aer, found);
  }
  raise(space, at.aer, aer::kUncorrectableStatus, bit);
  const std::uint32_t wanted = (is_advice  ? pcie::kReportCorrectable
                                : is_fatal ? pcie::kReportFatal
                                           : pcie::kReportNonFatal) |
                               (is_unsupported ? pcie::kReportUnsupported : 0U);
  const bool is_enabled = has_enables(enables, wanted) || (!is_advice && has_serr(enables));
  if ((is_masked && !is_advice) || !is_enabled) {
    return std::nullopt;
  }
  return is_advice ? msg::kErrCor : is_fatal ? msg::kErrFatal : msg::kErrNonFatal;
}

std::optional<std::uint8_t> report_error(ConfigSpace& space, aer::Correctable error,
                                         const ConfigSpace* physical) {
  const Blocks at = blocks_of(space);
  const std::uint32_t bit = 1U << static_cast<unsigned>(error);
  raise(space, at.pcie, pcie::kDeviceControl, pcie::kStatusCorrectable);
  raise(space, at.aer, aer::kCorrectableStatus, bit);
  const bool is_masked = (field(space, at.aer, aer::kCorrectableMask) & bit) != 0;
  const ConfigSpace& enables = physical == nullptr ? space : *physical;
  if (is_masked || !has_enables(enables, pcie::kReportCorrectable)) {
    return std::nullopt;
  }
  return msg::kErrCor;
}

void note_error_message(ConfigSpace& root_port, std::uint8_t message_code, Bdf source) {
  const std::uint16_t start = root_port.find_extended(cfg::kExtAer).value();
  const std::uint16_t status_at = register_at(start, aer::kRootStatus);
  const std::uint16_t source_at = register_at(start, aer::kErrorSource);
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
