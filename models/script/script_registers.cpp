// SPDX-License-Identifier: Apache-2.0
// Operations on registers of configuration space and of the translation agent.
#include "iommu/registers.h"
#include "script/script_session.h"

namespace flitwise {

// A named register stands where its capability starts, which takes no look at the wire.
std::optional<unsigned> ScriptSession::offset_of(const CfgOp& op) {
  using Part = ConfigRegister::Part;
  if (op.named == nullptr || op.named->part == Part::kHeader) {
    return op.named == nullptr ? op.offset : op.named->offset;
  }
  const auto spaces = machine_.config_spaces();
  const auto space = spaces.find({0, op.target});
  std::optional<std::uint16_t> start;
  if (space != spaces.end()) {
    start = op.named->part == Part::kExtended ? space->second->find_extended(op.named->capability)
                                              : space->second->find(op.named->capability);
  }
  return start ? std::optional<unsigned>(*start + op.named->offset) : std::nullopt;
}

void ScriptSession::run(const CfgOp& op) {
  const std::optional<unsigned> offset = offset_of(op);
  if (!offset) {
    bad_value("reg: " + json_value::bdf_text(op.target) + " has no capability with " +
              op.named->name);
    return;
  }
  const unsigned first = *offset % 4;
  const auto enables = static_cast<std::uint8_t>(((1U << op.bytes) - 1) << first);
  const HostAnswer answer =
      wait_for_config({op.is_write, op.target, static_cast<std::uint16_t>(*offset - first),
                       op.value << 8 * first, enables});
  if (!answer.is_ok()) {
    report_failure(answer);
  } else if (!op.is_write) {
    output_.data(token_, little_endian_bytes(answer.value() >> 8 * first, op.bytes));
  }
}

void ScriptSession::run(const IommuOp& op) {
  auto& agent = machine_.agent();
  const unsigned width = agent.register_width(op.offset);
  if (op.is_write) {
    if (width == 4 && op.value >> 32 != 0) {
      bad_value("value: wider than the register, which has 4 bytes");
      return;
    }
    agent.write_register(op.offset, width, op.value);
  } else {
    const std::uint64_t value = agent.read_register(op.offset, width);
    output_.write(token_, "data",
                  {{"hex", json_value::hex_bytes(little_endian_bytes(value, width))},
                   {"value", json_value::hex_number(value)}});
  }
}

// RTADDR in scalable mode, SRTP, TE; what GCMD has besides stays. [IOM-1.4] [IOM-1.6]
void ScriptSession::run(const TranslateOp& op) {
  constexpr std::uint64_t kScalable = 1U << 10;
  constexpr std::uint32_t kKept = global_bit::kTranslation | global_bit::kQueue |
                                  global_bit::kInterruptRemap | global_bit::kCompatible;
  auto& agent = machine_.agent();
  const auto command = [&](std::uint32_t set, std::uint32_t clear) {
    const auto status =
        static_cast<std::uint32_t>(agent.read_register(iommu_register::kGsts, 4)) & kKept;
    agent.write_register(iommu_register::kGcmd, 4, (status & ~clear) | set);
  };
  if (!op.is_on) {
    command(0, global_bit::kTranslation);
    return;
  }
  agent.write_register(iommu_register::kRtaddr, 8, TableBuilder::kDefaultArea | kScalable);
  command(global_bit::kRootTable, 0);
  command(global_bit::kTranslation, 0);
}

}  // namespace flitwise
