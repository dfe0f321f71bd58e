// SPDX-License-Identifier: Apache-2.0
// The two sequences of a network adapter.
#include "workload/nic_profile.h"

#include <algorithm>
#include <iterator>

#include "endpoint/domain_numbers.h"
#include "tlp/message_use.h"

namespace flitwise {

struct NicProfile::Step {
  /// What it moves; the rings in their order in memory.
  enum Target : unsigned {
    kTransmitDescriptor,
    kTransmitDone,
    kReceiveDescriptor,
    kReceiveDone,
    kDoorbell,
    kPayload,
    kInterrupt
  };
  Op op;
  Target target;
  std::uint32_t bytes;  ///< 0: as long as the message
  bool depends_on_previous;
};

namespace {

using NicStep = NicProfile::Step;

/// Each step needs what the one before brought; the interrupt is posted behind the completion entry
/// and stays behind it by ordering alone.
constexpr NicStep kTransmit[] = {
    {Op::kDoorbell, NicStep::kDoorbell, NicProfile::kDoorbellBytes, false},
    {Op::kRead, NicStep::kTransmitDescriptor, NicProfile::kDescriptorBytes, true},
    {Op::kRead, NicStep::kPayload, 0, true},
    {Op::kWrite, NicStep::kTransmitDone, NicProfile::kCompletionBytes, true},
    {Op::kMsi, NicStep::kInterrupt, NicProfile::kInterruptBytes, false},
};

/// The descriptor is fetched ahead, for a later message, so nothing here waits for it.
constexpr NicStep kReceive[] = {
    {Op::kRead, NicStep::kReceiveDescriptor, NicProfile::kDescriptorBytes, false},
    {Op::kWrite, NicStep::kPayload, 0, false},
    {Op::kWrite, NicStep::kReceiveDone, NicProfile::kCompletionBytes, false},
    {Op::kMsi, NicStep::kInterrupt, NicProfile::kInterruptBytes, false},
};

}  // namespace

NicProfile::NicProfile(const WorkloadConfig& config, const DeviceConfig& device, std::uint64_t seed,
                       std::uint64_t warmup)
    : source_(config, seed, warmup),
      rings_base_(config.buffer_base + domain_ids(config) * config.buffer_size),
      functions_(std::max<std::size_t>(workload_functions(device).size(), 1)),
      doorbell_base_(device.functions.bar_size / 2 / kDoorbellBytes * kDoorbellBytes),
      doorbells_(std::max<std::uint64_t>(device.functions.bar_size / 2 / kDoorbellBytes, 1)),
      slots_(domain_ids(config)) {}

bool NicProfile::next(WorkItem& item) {
  if (step_ == last_ && !begin_message()) {
    return false;
  }
  const Step& step = *step_++;
  const std::uint32_t bytes = step.bytes == 0 ? message_.bytes : step.bytes;
  const bool is_last = step_ == last_;
  const bool ends_context = is_last && message_.ends_context;
  item = {message_.at, message_.domain, step.op, address_of(step),
          bytes,       ends_context,    is_last, step.depends_on_previous};
  return true;
}

bool NicProfile::begin_message() {
  if (!source_.next(message_)) {
    return false;
  }
  Slots& slots = slots_[to_int(message_.domain)];
  std::uint32_t& slot = message_.is_read ? slots.transmit : slots.receive;
  slot_ = slot;
  slot = (slot + 1) % kRingEntries;
  step_ = message_.is_read ? std::begin(kTransmit) : std::begin(kReceive);
  last_ = message_.is_read ? std::end(kTransmit) : std::end(kReceive);
  return true;
}

std::uint64_t NicProfile::address_of(const Step& step) const {
  const std::uint64_t domain = to_int(message_.domain);
  switch (step.target) {
    case Step::kPayload: return message_.address;
    case Step::kDoorbell:  // They fill the upper half of the function's BAR 0, one for each domain.
      return doorbell_base_ + domain / functions_ % doorbells_ * kDoorbellBytes;
    case Step::kInterrupt:  // one page per domain modulo 256
      return kInterruptWindow + ((domain & 0xffU) << 12);
    default:
      return rings_base_ + domain * kRingsBytes + step.target * kRingBytes +
             slot_ * kDescriptorBytes;
  }
}

}  // namespace flitwise
