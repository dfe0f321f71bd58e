// SPDX-License-Identifier: Apache-2.0
// The two sequences of a network adapter.
#include "workload/nic_profile.h"

#include <algorithm>

#include "tlp/interrupt.h"

namespace flitwise {

namespace {

enum Ring : unsigned { kTransmitDescriptors, kTransmitDone, kReceiveDescriptors, kReceiveDone };

WorkItem item_of(const Message& message, Op op, std::uint64_t address, std::uint32_t bytes,
                 bool depends_on_previous) {
  WorkItem item;
  item.at = message.at;
  item.domain = message.domain;
  item.op = op;
  item.address = address;
  item.bytes = bytes;
  item.starts_message = false;
  item.ends_message = false;
  item.depends_on_previous = depends_on_previous;
  return item;
}

// One page per domain modulo 256.
std::uint64_t interrupt_address(DomainId domain) {
  return kInterruptWindow + (std::uint64_t{to_int(domain) & 0xffU} << 12);
}

}  // namespace

NicProfile::NicProfile(const WorkloadConfig& config, const DeviceConfig& device)
    : rings_base_(config.buffer_base + domain_ids(config) * config.buffer_size),
      functions_(std::max(device.functions.count, 1U)),
      doorbell_base_(device.functions.bar_size / 2 / kDoorbellBytes * kDoorbellBytes),
      doorbells_(std::max<std::uint64_t>(device.functions.bar_size / 2 / kDoorbellBytes, 1)),
      slots_(domain_ids(config)) {}

/// Doorbells fill the upper half of the function's BAR 0, one for each of its domains.
std::uint64_t NicProfile::doorbell(DomainId domain) const {
  return doorbell_base_ + to_int(domain) / functions_ % doorbells_ * kDoorbellBytes;
}

std::uint64_t NicProfile::ring(DomainId domain, unsigned which, std::uint64_t slot) const {
  return rings_base_ + to_int(domain) * kRingsBytes + which * kRingBytes + slot * kDescriptorBytes;
}

unsigned NicProfile::expand(const Message& message, Items& items) {
  Slots& slots = slots_[to_int(message.domain)];
  std::uint32_t& slot = message.is_read ? slots.transmit : slots.receive;
  const unsigned count =
      message.is_read ? transmit(message, slot, items) : receive(message, slot, items);
  slot = (slot + 1) % kRingEntries;
  items[0].starts_message = true;
  items[count - 1].ends_message = true;
  items[count - 1].ends_context = message.ends_context;
  return count;
}

/// Each step needs what the one before brought; the interrupt is posted behind the completion entry
/// and stays behind it by ordering alone.
unsigned NicProfile::transmit(const Message& message, std::uint64_t slot, Items& items) const {
  const DomainId domain = message.domain;
  items[0] = item_of(message, Op::kDoorbell, doorbell(domain), kDoorbellBytes, false);
  items[1] =
      item_of(message, Op::kRead, ring(domain, kTransmitDescriptors, slot), kDescriptorBytes, true);
  items[2] = item_of(message, Op::kRead, message.address, message.bytes, true);
  items[3] =
      item_of(message, Op::kWrite, ring(domain, kTransmitDone, slot), kCompletionBytes, true);
  items[4] = item_of(message, Op::kMsi, interrupt_address(domain), kInterruptBytes, false);
  return 5;
}

/// The descriptor is fetched ahead, for a later message, so nothing here waits for it.
unsigned NicProfile::receive(const Message& message, std::uint64_t slot, Items& items) const {
  const DomainId domain = message.domain;
  items[0] =
      item_of(message, Op::kRead, ring(domain, kReceiveDescriptors, slot), kDescriptorBytes, false);
  items[1] = item_of(message, Op::kWrite, message.address, message.bytes, false);
  items[2] =
      item_of(message, Op::kWrite, ring(domain, kReceiveDone, slot), kCompletionBytes, false);
  items[3] = item_of(message, Op::kMsi, interrupt_address(domain), kInterruptBytes, false);
  return 4;
}

}  // namespace flitwise
