// SPDX-License-Identifier: Apache-2.0
#include "rdma/hca_commands.h"

#include <utility>

namespace flitwise {

std::optional<HcaCommands::Stored> HcaCommands::write(std::uint64_t offset,
                                                      const std::uint8_t* bytes, std::size_t size,
                                                      Time now) {
  const bool is_first = !buffer_.is_partial();
  const CommandBuffer::Outcome outcome = buffer_.write(offset, bytes, size);
  due_ = is_first ? now + kTimeout : due_;
  bad_ += outcome == CommandBuffer::Outcome::kBad ? 1 : 0;
  if (outcome != CommandBuffer::Outcome::kComplete) {
    return std::nullopt;
  }
  Stored stored{command_of(buffer_.bytes()), buffer_.size() / kCommandLine};
  const auto work = decode_send(buffer_.bytes());
  if (work && records_.open_count() < depth_) {
    Record record = std::move(records_[records_.next()]);
    record.bytes.assign(buffer_.bytes(), buffer_.bytes() + buffer_.size());
    record.has_payload = stored.command.has_payload && work->local.bytes() > 0;
    record.local = work->local.pieces[0];
    stored.token = records_.open(std::move(record));
  }
  return stored;
}

void HcaCommands::expire(Time now) {
  if (next() <= now) {
    buffer_.drop();
    ++timed_out_;
  }
}

void HcaCommands::close_all(Queue& queue) {
  while (!queue.empty()) {
    records_.close(records_.pop(queue));
  }
}

const std::uint8_t* HcaCommands::take_payload(Queue& payloads, const RdmaPacket& packet) {
  if (payloads.empty() || packet.payload.count == 0 || !info_of(packet.opcode).is_request()) {
    return nullptr;
  }
  const Record& record = records_[payloads.first];
  const Sge& piece = packet.payload.pieces[0];
  const std::uint64_t offset = piece.address - record.local.address;
  if (offset >= record.local.bytes) {
    return nullptr;
  }
  if (offset + piece.bytes == record.local.bytes) {
    records_.close(records_.pop(payloads));
  }
  return record.bytes.data() + kWqeBytes + offset;
}

}  // namespace flitwise
