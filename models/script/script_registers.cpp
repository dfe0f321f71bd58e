// SPDX-License-Identifier: Apache-2.0
// Operations on registers of configuration space and of the translation agent.
#include "iommu/fault_log.h"
#include "iommu/registers.h"
#include "script/script_session.h"

namespace flitwise {
namespace {

/// Bits of GSTS that GCMD has to keep.
constexpr std::uint32_t kKeptCommands = global_bit::kTranslation | global_bit::kQueue |
                                        global_bit::kInterruptRemap | global_bit::kCompatible;

}  // namespace

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

// [IOM-9.1]
void ScriptSession::run(const FaultRecordOp& op) {
  constexpr const char* kTypes[] = {"write", "page_request", "read", "atomic"};  // FaultType
  constexpr std::uint64_t kTaken = std::uint64_t{1} << 63;
  auto& agent = machine_.agent();
  const unsigned records = machine_.config.iommu.capabilities.fault_records;
  if (op.index >= records) {
    bad_value("index: is " + std::to_string(op.index) + "; expected less than " +
              std::to_string(records) + ", which is iommu.capabilities.fault_records");
    return;
  }
  const std::uint32_t offset = kFaultRecords + 16 * op.index;
  const std::uint64_t high = agent.read_register(offset + 8, 8);
  Json fields = {{"index", op.index}, {"taken", (high & kTaken) != 0}};
  if ((high & kTaken) != 0) {
    const FaultRecord record = read_fault_record(agent.read_register(offset, 8), high);
    fields["code"] = json_value::hex_number(record.code);
    fields["rid"] = json_value::bdf_text(record.source);
    fields["pasid"] = record.pasid ? Json(to_int(*record.pasid)) : Json();
    fields["addr"] = json_value::hex_number(record.address);
    fields["type"] = kTypes[static_cast<std::size_t>(record.type)];
    fields["privileged"] = record.is_privileged;
    fields["execute"] = record.is_execute;
  }
  output_.write(token_, "fault_record", fields);
}

// Of 256-bit descriptors at 96 MiB, one page, unless the script has a queue already. [IOM-1.7]
void ScriptSession::run(const InvalidateOp& op) {
  using namespace iommu_register;
  constexpr std::uint64_t kQueue = std::uint64_t{96} << 20, kWide = 1U << 11;
  auto& agent = machine_.agent();
  const auto status = static_cast<std::uint32_t>(agent.read_register(kGsts, 4)) & kKeptCommands;
  if ((status & global_bit::kQueue) == 0) {
    agent.write_register(kIqa, 8, kQueue | kWide);
    agent.write_register(kGcmd, 4, status | global_bit::kQueue);
    queue_tail_.reset();
  }
  const std::uint64_t queue = agent.read_register(kIqa, 8);
  const bool is_wide = (queue & kWide) != 0;
  const std::uint32_t entry = is_wide ? kWideDescriptorBytes : kWideDescriptorBytes / 2;
  const std::uint32_t bytes = kPageBytes << (queue & 7);
  const std::uint32_t tail =
      queue_tail_.value_or(static_cast<std::uint32_t>(agent.read_register(kIqt, 8)));
  const std::uint32_t next = (tail + entry) % bytes;
  if (next == agent.read_register(kIqh, 8)) {
    bad_value("the invalidation queue is full; expected a run, until descriptors are carried out");
    return;
  }
  const DescriptorBytes descriptor = encode(op.command);
  if (!machine_.memory().poke((queue & kPageAddress) + tail, descriptor.data(), entry)) {
    bad_value("the invalidation queue lies outside of host memory");
    return;
  }
  queue_tail_ = next;
  if (op.submits) {
    agent.write_register(kIqt, 8, next);
    queue_tail_.reset();
  }
}

// RTADDR in scalable mode, SRTP, TE; what GCMD has besides stays. [IOM-1.4] [IOM-1.6]
void ScriptSession::run(const TranslateOp& op) {
  constexpr std::uint64_t kScalable = 1U << 10;
  auto& agent = machine_.agent();
  const auto command = [&](std::uint32_t set, std::uint32_t clear) {
    const auto status =
        static_cast<std::uint32_t>(agent.read_register(iommu_register::kGsts, 4)) & kKeptCommands;
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
