// SPDX-License-Identifier: Apache-2.0
#include "rdma/hca_commands.h"

#include <algorithm>
#include <utility>

namespace flitwise {

std::optional<HcaCommands::Stored> HcaCommands::write(std::size_t function, std::uint64_t offset,
                                                      const std::uint8_t* bytes, std::size_t size,
                                                      Time now) {
  Collected& own = collected_[function];
  CommandBuffer& buffer = own.buffer;
  const bool is_first = !buffer.is_partial();
  const CommandBuffer::Outcome outcome = buffer.write(offset, bytes, size);
  bad_ += outcome == CommandBuffer::Outcome::kBad ? 1 : 0;
  if (is_first != !buffer.is_partial()) {
    own.due = is_first ? now + kTimeout : Time::never();
    set_next();
  }
  if (outcome != CommandBuffer::Outcome::kComplete) {
    return std::nullopt;
  }
  Stored stored{command_of(buffer.bytes()), buffer.size() / kCommandLine};
  const auto work = decode_send(buffer.bytes());
  if (work && records_.open_count() < depth_) {
    Record record = std::move(records_[records_.next()]);
    record.bytes.assign(buffer.bytes(), buffer.bytes() + buffer.size());
    record.has_payload = stored.command.has_payload && work->local.bytes() > 0;
    record.local = work->local.pieces[0];
    stored.token = records_.open(std::move(record));
  }
  return stored;
}

void HcaCommands::expire(Time now) {
  while (next_ <= now) {
    Collected& first =
        *std::min_element(collected_.begin(), collected_.end(),
                          [](const Collected& a, const Collected& b) { return a.due < b.due; });
    first.buffer.drop();
    first.due = Time::never();
    ++timed_out_;
    set_next();
  }
}

void HcaCommands::set_next() {
  next_ = Time::never();
  for (const Collected& one : collected_) {
    next_ = std::min(next_, one.due);
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
