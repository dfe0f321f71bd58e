// SPDX-License-Identifier: Apache-2.0
// What software writes into registers, in any order: the commands of the translation agent and its
// queues, the handle commands, the DHI capability, and the configuration spaces that bridges and
// functions are read from.
#include <algorithm>
#include <array>

#include "config_space/ats_capability.h"
#include "config_space/dhi_dvsec.h"
#include "config_space/functions.h"
#include "dhi/dhi_message.h"
#include "dhi/handle_registers.h"
#include "fuzz/fuzz_support.h"
#include "iommu/agent_queues.h"
#include "iommu/fault_log.h"
#include "iommu/registers.h"
#include "routing/routing_table.h"

namespace flitwise {
namespace {

using fuzz::Input;
namespace ir = iommu_register;

std::uint32_t take_dw(Input& input) {
  return static_cast<std::uint32_t>(input.take(4));
}

// ---- translation agent

/// The agent as its registers, its queues and what software and memory do to them.
class Agent {
 public:
  explicit Agent(const IommuCapabilities& offers) : offers_(offers), registers_(offers) {}

  void act(Input& input) {
    switch (input.take(1) % 6) {
      case 0:
      case 1: write(input); break;
      case 2: fetch(input); break;
      case 3: admit_page_request(input); break;
      case 4: report_fault(input); break;
      default: answer(input); break;
    }
    check_registers();
  }

 private:
  void write(Input& input) {
    const auto offset = static_cast<std::uint32_t>(input.take(2));
    const auto bytes = static_cast<unsigned>(input.take(1) % 16);
    follow(registers_.write(offset, bytes, input.take(8)));
  }

  // What the clocks do for the effects of a write.
  void follow(const RegisterEffects& effects) {
    if (effects.sets_root_table) {
      registers_.latch_root_table();
      registers_.set_global_status(global_bit::kRootTable, true);
      FLITWISE_PROPERTY((registers_.root_table().address & 0xfff) == 0);
    }
    if (effects.changes_translation) {
      FLITWISE_PROPERTY(registers_.translates() != effects.enables_translation);
      registers_.set_global_status(global_bit::kTranslation, effects.enables_translation);
    }
    if (effects.changes_queue) {
      FLITWISE_PROPERTY(registers_.queue_is_enabled() != effects.enables_queue);
      registers_.set_global_status(global_bit::kQueue, effects.enables_queue);
      registers_.set_queue_head(0);
    }
    if (effects.moves_queue_tail) {
      queue_.check_tail(registers_);
    }
    if (effects.invalidates_contexts) {
      registers_.finish_context_command(1);
      FLITWISE_PROPERTY(registers_.context_command() >> 63 == 0);
    }
    if (effects.invalidates_iotlb) {
      registers_.finish_iotlb_command(1);
      FLITWISE_PROPERTY(registers_.iotlb_command() >> 63 == 0);
    }
  }

  void fetch(Input& input) {
    const std::optional<std::uint64_t> address = queue_.fetch_address(registers_);
    if (!address) {
      return;
    }
    FLITWISE_PROPERTY(*address % 16 == 0);
    queue_.fetch_begins();
    std::array<std::uint8_t, 32> bytes{};
    std::generate(bytes.begin(), bytes.end(),
                  [&input] { return static_cast<std::uint8_t>(input.take(1)); });
    const InvalidationDescriptor command =
        queue_.fetched(bytes.data(), offers_, registers_).command;
    if (std::holds_alternative<DescriptorError>(command)) {
      FLITWISE_PROPERTY((registers_.fault_status() & fault_status::kQueueError) != 0);
    } else if (!std::holds_alternative<InvalidationWait>(command)) {
      const bool is_for_device = std::holds_alternative<DeviceTlbInvalidation>(command) ||
                                 std::holds_alternative<HandleInvalidation>(command);
      if (is_for_device) {
        queue_.sent_to_device();
      }
      queue_.carried_out(registers_);
    }
    FLITWISE_PROPERTY(!queue_.is_waiting() || !queue_.fetch_address(registers_));
  }

  void answer(Input& input) {
    if (queue_.outstanding() != 0) {
      if ((input.take(1) & 1) != 0) {
        queue_.device_timed_out(Bdf{0x100}, registers_);
      } else {
        queue_.device_answered();
      }
    }
    if (queue_.wait_is_complete(pages_.is_drained(registers_))) {
      queue_.finish_wait(registers_);
      FLITWISE_PROPERTY(!queue_.is_waiting());
    }
    if (pages_.in_flight() != 0) {
      pages_.written(registers_);
    }
  }

  void admit_page_request(Input& input) {
    PageRequest request;
    const std::uint64_t flags = input.take(1);
    request.read = (flags & 1) != 0;
    request.write = (flags & 2) != 0;
    request.is_last = (flags & 4) != 0;
    if ((flags & 8) != 0) {
      request.pasid = Pasid{7};
    }
    const PageRequestQueue::Admission admission =
        pages_.admit(request, (flags & 16) == 0, registers_);
    const QueueView queue = registers_.page_request_queue();
    if (admission.record) {
      FLITWISE_PROPERTY(*admission.record - queue.base <= queue.bytes - kPageRequestRecordBytes);
      FLITWISE_PROPERTY(*admission.record % kPageRequestRecordBytes == 0);
    }
    FLITWISE_PROPERTY(!admission.answer || (request.is_last && !request.is_stop_marker()));
  }

  void report_fault(Input& input) {
    FaultRecord record;
    record.code = static_cast<std::uint8_t>(input.take(1));
    record.source.value = static_cast<std::uint16_t>(input.take(2));
    record.address = input.take(8);
    faults_.report(record, registers_);
    FLITWISE_PROPERTY(
        (registers_.fault_status() & (fault_status::kPending | fault_status::kOverflow)) != 0);
  }

  void check_registers() const {
    FLITWISE_PROPERTY(registers_.read(ir::kCap, 8) == cap_register(offers_));
    FLITWISE_PROPERTY(registers_.read(ir::kEcap, 8) == ecap_register(offers_));
    FLITWISE_PROPERTY(registers_.read(ir::kGcmd, 4) == 0);
    bool has_record = false;
    for (unsigned i = 0; i < registers_.fault_record_count(); ++i) {
      has_record = has_record || registers_.fault_record_is_taken(i);
    }
    FLITWISE_PROPERTY(has_record == ((registers_.fault_status() & fault_status::kPending) != 0));
    const QueueView queue = registers_.invalidation_queue();
    FLITWISE_PROPERTY(queue.base % 4096 == 0 && queue.bytes % 4096 == 0);
    FLITWISE_PROPERTY(queue.tail % queue.entry_bytes == 0);
  }

  IommuCapabilities offers_;
  IommuRegisters registers_;
  InvalidationQueue queue_;
  PageRequestQueue pages_{PageRequestOverflow::kRespondSuccess};
  FaultLog faults_;
};

void check_agent(Input& input) {
  IommuCapabilities offers;
  offers.fault_records = static_cast<std::uint16_t>(1 + input.take(1) % 4);
  Agent agent(offers);
  while (!input.is_empty()) {
    agent.act(input);
  }
}

// ---- handles

struct HandleCommandCheck {
  void operator()(const AllocMessage& message) const {
    FLITWISE_PROPERTY(to_int(message.dhi) <= kHandleMask);
    const OptionalId<Pasid> pasid = message.identity.pasid;
    FLITWISE_PROPERTY(!pasid.has_value() || to_int(*pasid) >> kPasidBits == 0);
    FLITWISE_PROPERTY(pasid.has_value() || (!message.identity.privileged_mode_requested &&
                                            !message.identity.execute_requested));
  }
  void operator()(const DeallocMessage& message) const {
    const bool is_range = message.scope == DeallocScope::kRange;
    FLITWISE_PROPERTY(to_int(message.dhi) <= kHandleMask);
    FLITWISE_PROPERTY(!is_range || to_int(message.upper) <= kHandleMask);
    FLITWISE_PROPERTY(!is_range || to_int(message.dhi) <= to_int(message.upper));
  }
};

void check_handle_commands(Input& input) {
  HandleRegisters registers;
  while (!input.is_empty()) {
    const bool was_busy = registers.is_busy();
    const auto offset = static_cast<std::uint32_t>(input.take(1) % 0x24);
    const auto command = registers.write(offset, take_dw(input));
    FLITWISE_PROPERTY(!command || (!was_busy && offset == handle_register::kCommand));
    FLITWISE_PROPERTY(registers.is_busy() == (was_busy || command.has_value()));
    if (command) {
      std::visit(HandleCommandCheck{}, *command);
    }
    FLITWISE_PROPERTY(registers.read(handle_register::kIdent) == handle_register::kIdentValue);
    FLITWISE_PROPERTY(registers.read(handle_register::kCommand) == 0);
    const std::uint64_t outcome = input.take(1);
    if (outcome < kHandleStatuses) {
      registers.finish(static_cast<HandleStatus>(outcome));
      FLITWISE_PROPERTY(!registers.is_busy());
    }
  }
}

/// One end of a link: a space with the DHI capability, as software can write it.
struct HandleEndSpace {
  explicit HandleEndSpace(const DhiCapability& offers)
      : bits(offers.bits),
        registers(offers),
        space(port_space(cfg::pcie::PortType::kRootPort, {}, 0)),
        start(space.add(dhi_capability(registers))) {}

  unsigned bits;
  DhiDvsec registers;
  ConfigSpace space;
  std::uint16_t start;
};

DhiCapability dhi_capability_from(Input& input) {
  DhiCapability offers;
  const std::uint64_t flags = input.take(1);
  offers.is_supported = (flags & 1) == 0;
  offers.bits = static_cast<unsigned>(kMinHandleBits + (flags >> 4) % 11);
  return offers;
}

void check_negotiation(HandleEndSpace& host, const HandleEndSpace& device) {
  const Negotiated outcome =
      negotiate(host.registers.end(), device.registers.end(), device.registers.range(), true);
  FLITWISE_PROPERTY(*name_of(outcome.outcome) != '?');
  if (outcome.is_active()) {
    FLITWISE_PROPERTY(outcome.bits <= host.bits && outcome.bits <= device.bits);
    FLITWISE_PROPERTY(outcome.range.size() != 0);
    FLITWISE_PROPERTY(to_int(outcome.range.upper) < 1U << outcome.bits);
  }
  host.registers.set_outcome(outcome);
  const std::uint32_t status =
      host.space.read(static_cast<std::uint16_t>(host.start + dvsec::kStatus));
  FLITWISE_PROPERTY(((status & 1U) != 0) == outcome.is_active());
}

void check_dhi_capability(Input& input) {
  HandleEndSpace host(dhi_capability_from(input)), device(dhi_capability_from(input));
  while (!input.is_empty()) {
    const std::uint64_t what = input.take(1);
    HandleEndSpace& end = (what & 1) != 0 ? host : device;
    const auto offset = static_cast<std::uint16_t>(end.start + (what >> 1) % 9 * 4);
    const auto byte_enables = static_cast<std::uint8_t>(what >> 4);
    const WriteEffect effect = end.space.write(offset, take_dw(input), byte_enables);
    FLITWISE_PROPERTY(!effect.dhi_control_changed || offset == end.start + dvsec::kControl ||
                      offset == end.start + dvsec::kRange);
    FLITWISE_PROPERTY(find_dvsec(end.space, kHandleVendorId, dvsec::kDvsecId) == end.start);
    check_negotiation(host, device);
  }
}

// ---- configuration spaces

void check_window(const AddressRange& window) {
  FLITWISE_PROPERTY(window.base % (1U << 20) == 0);
  FLITWISE_PROPERTY(window.size == 0 || window.contains(window.base));
  FLITWISE_PROPERTY(window.size == 0 || window.base + (window.size - 1) >= window.base);
}

void check_bridge(const ConfigSpace& space) {
  const Bridge bridge = decode_bridge(space);
  check_window(bridge.memory);
  check_window(bridge.prefetchable);
  const std::uint32_t memory = space.read(cfg::kMemoryWindow);
  const std::uint64_t base = std::uint64_t{memory & 0xfff0U} << 16, limit = memory & 0xfff0'0000U;
  FLITWISE_PROPERTY(bridge.memory.contains(base) == (base <= limit));
  FLITWISE_PROPERTY(bridge.memory.contains(limit) == (base <= limit));
  const std::uint32_t low = space.read(cfg::kPrefetchWindow);
  const std::uint64_t first =
      std::uint64_t{space.read(cfg::kPrefetchBaseUpper)} << 32 | std::uint64_t{low & 0xfff0U} << 16;
  const std::uint64_t last =
      std::uint64_t{space.read(cfg::kPrefetchLimitUpper)} << 32 | (low & 0xfff0'0000U);
  FLITWISE_PROPERTY(bridge.prefetchable.contains(first) == (first <= last));
  FLITWISE_PROPERTY(bridge.prefetchable.contains(last) == (first <= last));
}

void check_endpoint(const ConfigSpace& space, unsigned total_vfs) {
  const AddressRange bar = space.bar(0);
  FLITWISE_PROPERTY((bar.size & (bar.size - 1)) == 0 && (bar.base & (bar.size - 1)) == 0);
  const VirtualFunctions functions = virtual_functions(space);
  FLITWISE_PROPERTY(functions.count <= total_vfs);
  const AtsControl ats = ats_control(space);
  FLITWISE_PROPERTY(ats.stu <= 31 && ats.queue_depth >= 1 && ats.queue_depth <= 32);
  FLITWISE_PROPERTY(pasid_control(space).width <= kPasidBits);
}

void check_device_control(const ConfigSpace& space) {
  const DeviceControl control = device_control(space);
  FLITWISE_PROPERTY(control.mps >= 128 && control.mps <= 4096);
  FLITWISE_PROPERTY(control.mrrs >= 128 && control.mrrs <= 4096);
  FLITWISE_PROPERTY(control.tag_bits == 5 || control.tag_bits == 8 || control.tag_bits == 10);
}

void write_space(ConfigSpace& space, Input& input) {
  const std::uint64_t where = input.take(2);
  if (where >> 12 == 0xf) {
    space.reset((where & 1) != 0 ? ResetKind::kConventional : ResetKind::kFunctionLevel);
    return;
  }
  const std::uint32_t ids = space.read(cfg::kVendorId);
  const auto offset = static_cast<std::uint16_t>(where & 0xfffU);
  const std::uint32_t before = space.read(offset);
  const auto byte_enables = static_cast<std::uint8_t>(where >> 12 ^ 0xfU);
  const WriteEffect effect = space.write(offset, take_dw(input), byte_enables);
  FLITWISE_PROPERTY(byte_enables != 0 || (before == space.read(offset) && !effect.any()));
  FLITWISE_PROPERTY(space.read(cfg::kVendorId) == ids);
}

void check_port_spaces(Input& input) {
  using cfg::pcie::PortType;
  constexpr std::array<PortType, 3> kTypes{PortType::kRootPort, PortType::kUpstreamPort,
                                           PortType::kDownstreamPort};
  ConfigSpace space = port_space(kTypes[input.take(1) % kTypes.size()], {}, 1);
  while (!input.is_empty()) {
    write_space(space, input);
    check_bridge(space);
    check_device_control(space);
  }
}

void check_endpoint_space(Input& input) {
  EndpointSpaceOptions options;
  options.total_vfs = static_cast<std::uint16_t>(input.take(1));
  ConfigSpace space = endpoint_space(options);
  space.add(ats_capability({}));
  space.add(pasid_capability({}));
  while (!input.is_empty()) {
    write_space(space, input);
    check_endpoint(space, options.total_vfs);
    check_device_control(space);
  }
}

void check(Input input) {
  switch (input.take(1) % 5) {
    case 0: check_agent(input); break;
    case 1: check_handle_commands(input); break;
    case 2: check_dhi_capability(input); break;
    case 3: check_port_spaces(input); break;
    default: check_endpoint_space(input); break;
  }
}

}  // namespace
}  // namespace flitwise

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  flitwise::check(flitwise::fuzz::Input(flitwise::fuzz::bytes_of_input(data, size)));
  return 0;
}
