// SPDX-License-Identifier: Apache-2.0
#include "rdma/ring_entries.h"

#include <boost/endian/conversion.hpp>

namespace flitwise {
namespace {

using boost::endian::load_little_u32;
using boost::endian::load_little_u64;
using boost::endian::store_little_u32;
using boost::endian::store_little_u64;

enum Flag : std::uint8_t { kSignaled = 1, kSolicited = 2, kFenced = 4, kOfReceive = 8 };

void put_piece(std::uint8_t* at, const MemoryView& view) {
  const Sge piece = view.count > 0 ? view.pieces[0] : Sge{};
  store_little_u64(at, piece.address);
  store_little_u32(at + 8, piece.bytes);
  store_little_u32(at + 12, piece.key);
}

MemoryView piece_at(const std::uint8_t* at) {
  return view_of({load_little_u64(at), load_little_u32(at + 8), load_little_u32(at + 12)});
}

}  // namespace

SendEntry encode(const SendWork& work) {
  SendEntry entry{};
  store_little_u64(&entry[0], work.id);
  entry[8] = static_cast<std::uint8_t>(work.opcode);
  entry[9] = static_cast<std::uint8_t>((work.is_signaled ? kSignaled : 0) |
                                       (work.is_solicited ? kSolicited : 0) |
                                       (work.is_fenced ? kFenced : 0));
  store_little_u32(&entry[12], work.immediate);
  put_piece(&entry[16], work.local);
  store_little_u64(&entry[32], work.remote_address);
  store_little_u32(&entry[40], work.remote_key);
  store_little_u64(&entry[48], work.operand);
  store_little_u64(&entry[56], work.compare);
  return entry;
}

std::optional<SendWork> decode_send(const std::uint8_t* entry) {
  if (entry[8] >= kWorkOpcodes) {
    return std::nullopt;
  }
  SendWork work;
  work.id = load_little_u64(entry);
  work.opcode = static_cast<WorkOpcode>(entry[8]);
  work.is_signaled = (entry[9] & kSignaled) != 0;
  work.is_solicited = (entry[9] & kSolicited) != 0;
  work.is_fenced = (entry[9] & kFenced) != 0;
  work.immediate = load_little_u32(entry + 12);
  work.local = piece_at(entry + 16);
  work.remote_address = load_little_u64(entry + 32);
  work.remote_key = load_little_u32(entry + 40);
  work.operand = load_little_u64(entry + 48);
  work.compare = load_little_u64(entry + 56);
  return work;
}

ReceiveEntry encode(const ReceiveWork& work) {
  ReceiveEntry entry{};
  store_little_u64(&entry[0], work.id);
  put_piece(&entry[8], work.local);
  return entry;
}

ReceiveWork decode_receive(const std::uint8_t* entry) {
  return {load_little_u64(entry), piece_at(entry + 8)};
}

CompletionEntry encode(const WorkCompletion& completion, bool phase) {
  CompletionEntry entry{};
  store_little_u64(&entry[0], completion.id);
  store_little_u32(&entry[8], completion.queue_pair);
  entry[12] = static_cast<std::uint8_t>(completion.status);
  entry[13] = static_cast<std::uint8_t>(completion.opcode);
  entry[14] = static_cast<std::uint8_t>((completion.is_receive ? kOfReceive : 0) |
                                        (completion.is_solicited ? kSolicited : 0));
  entry[15] = phase ? 0x80 : 0;
  store_little_u64(&entry[16], completion.bytes);
  store_little_u32(&entry[24], completion.immediate);
  return entry;
}

WorkCompletion decode_completion(const std::uint8_t* entry) {
  WorkCompletion completion;
  completion.id = load_little_u64(entry);
  completion.queue_pair = load_little_u32(entry + 8);
  completion.status = static_cast<WorkStatus>(entry[12]);
  completion.opcode = static_cast<WorkOpcode>(entry[13]);
  completion.is_receive = (entry[14] & kOfReceive) != 0;
  completion.is_solicited = (entry[14] & kSolicited) != 0;
  completion.bytes = load_little_u64(entry + 16);
  completion.immediate = load_little_u32(entry + 24);
  return completion;
}

}  // namespace flitwise
