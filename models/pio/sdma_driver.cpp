// SPDX-License-Identifier: Apache-2.0
#include "pio/sdma_driver.h"

#include <boost/endian/conversion.hpp>

#include <algorithm>
#include <utility>

#include "pio/packet_stamp.h"
#include "pio/pbc.h"

namespace flitwise {

SdmaDriver::SdmaDriver(const PioEngineConfig& config, Hooks hooks)
    : config_(config), hooks_(std::move(hooks)) {
  for (unsigned engine = 0; engine < config.sdma_engines(); ++engine) {
    const SdmaArea area = config.sdma_area(engine);
    senders_.emplace_back(area.entries, area.places());
  }
}

bool SdmaDriver::send(unsigned domain, std::uint32_t payload, unsigned vl) {
  if (is_stopped_ && !restart()) {
    return false;
  }
  const unsigned engine = engine_of(domain);
  SdmaSender& sender = senders_[engine];
  const unsigned descriptors = descriptors_of(payload);
  if (!sender.may_write(descriptors)) {
    sender.take(hooks_.look(config_.sdma_area(engine).head()));
  }
  if (!sender.may_write(descriptors)) {
    return false;
  }
  write_packet(engine, payload, vl);
  describe(engine, static_cast<std::uint32_t>(packet_.size()));
  sender.write(descriptors);
  const std::uint64_t tail = boost::endian::native_to_little(sender.tail());
  hooks_.write(kSdmaTails + engine * std::uint64_t{kQwBytes},
               reinterpret_cast<const std::uint8_t*>(&tail), sizeof(tail));
  return true;
}

// model: at once, as rings are set up before the run.
bool SdmaDriver::restart() {
  if (!hooks_.restart()) {
    return false;
  }
  is_stopped_ = false;
  for (unsigned engine = 0; engine < senders_.size(); ++engine) {
    senders_[engine].restart();
    hooks_.set_to_0(config_.sdma_area(engine).head());
  }
  return true;
}

void SdmaDriver::write_packet(unsigned engine, std::uint32_t payload, unsigned vl) {
  const SdmaSender& sender = senders_[engine];
  Pbc pbc = Pbc::of_payload(payload);
  pbc.vl = static_cast<std::uint8_t>(vl);
  const PacketStamp stamp(kSendContexts + engine, sender.packets());
  packet_.resize(4U * (pbc.length_dws + 1U) / kQwBytes * kQwBytes);
  for (std::size_t place = 0; place < packet_.size() / kQwBytes; ++place) {
    boost::endian::store_little_u64(packet_.data() + place * kQwBytes,
                                    place == 0 ? encode(pbc) : stamp.qw(place));
  }
  packet_.resize(4U * pbc.length_dws);
  hooks_.store(config_.sdma_area(engine).packet(sender.place()), packet_.data(), packet_.size());
}

void SdmaDriver::describe(unsigned engine, std::uint32_t bytes) {
  const SdmaSender& sender = senders_[engine];
  const SdmaArea area = config_.sdma_area(engine);
  SdmaDescriptor descriptor;
  descriptor.address = area.packet(sender.place());
  descriptor.is_first = true;
  descriptor.asks_for_head = sender.asks_for_head();
  for (unsigned ahead = 0; bytes > 0; ++ahead) {
    descriptor.bytes =
        static_cast<std::uint16_t>(descriptor.is_first ? std::min(bytes, kSendBlockBytes) : bytes);
    bytes -= descriptor.bytes;
    descriptor.is_last = bytes == 0;
    descriptor.generation = sender.generation(ahead);
    hooks_.store(area.descriptor(sender.index(ahead)), encode(descriptor).data(),
                 kSdmaDescriptorBytes);
    descriptor.address += descriptor.bytes;
    descriptor.is_first = false;
  }
}

}  // namespace flitwise
