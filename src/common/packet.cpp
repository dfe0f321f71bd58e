// SPDX-License-Identifier: Apache-2.0
// The packet pool: packets are made once and handed out again.
#include "flitwise/packet.h"

#include "flitwise/cxl.h"
#include "flitwise/error.h"
#include "flitwise/flit.h"

namespace flitwise {
namespace {
constexpr PacketFields kFresh;
}

Packet::~Packet() = default;
PacketPool::~PacketPool() = default;

void PacketPool::recycle(Packet* packet) {
  packet->write.reset();
  if (packet->kind == PacketKind::kFlit) {
    packet->flit->clear();
  }
  free_.push_back(packet);
}

// What a flit or a CXL message has beyond a TLP stays with the packet once it was made.
void PacketPool::add_contents(Packet& packet) {
  if (packet.kind == PacketKind::kFlit) {
    if (!packet.flit) {
      packet.flit = std::make_unique<Flit>();
    }
    return;
  }
  if (!packet.cxl) {
    packet.cxl = std::make_unique<CxlMessage>();
  }
  *packet.cxl = CxlMessage();
}

PacketRef PacketPool::make(PacketKind kind, std::size_t payload_bytes) {
  if (free_.empty()) {
    all_.push_back(std::unique_ptr<Packet>(new Packet));
    all_.back()->pool_ = this;
    free_.push_back(all_.back().get());
  }
  Packet* packet = free_.back();
  free_.pop_back();
  static_cast<PacketFields&>(*packet) = kFresh;
  packet->uid = next_uid_++;
  packet->kind = kind;
  packet->payload.resize(payload_bytes);
  packet->stamps.fill(kNotStamped);
  if (kind >= PacketKind::kFlit) {
    add_contents(*packet);
  }
  return PacketRef(packet);
}

WriteRequestRef PacketPool::make_write(std::uint64_t bytes) {
  if (free_writes_.empty()) {
    all_writes_.push_back(std::make_unique<WriteRequest>());
    all_writes_.back()->pool_ = this;
    free_writes_.push_back(all_writes_.back().get());
  }
  WriteRequest* const request = free_writes_.back();
  free_writes_.pop_back();
  request->bytes_left = bytes;
  request->last = Time{};
  return WriteRequestRef(request);
}

const char* name_of(Hop hop) {
  constexpr const char* kNames[kHops] = {"issue",    "handle",   "queued", "sent",
                                         "received", "resolved", "memory", "completed"};
  return kNames[static_cast<std::size_t>(hop)];
}

const char* name_of(CxlFlitHeader::Control control) {
  constexpr const char* kNames[kCxlControls] = {"", "LLCRD", "RETRY.Frame", "RETRY.Req",
                                                "RETRY.Ack"};
  return kNames[static_cast<std::size_t>(control)];
}

}  // namespace flitwise
