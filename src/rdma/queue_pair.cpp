// SPDX-License-Identifier: Apache-2.0
#include "rdma/queue_pair.h"

namespace flitwise {

bool QueuePair::modify(QpState to) {
  const QpState from = context_.state;
  if (!may_move(from, to)) {
    return false;
  }
  context_.state = to;
  if (to == QpState::kReset) {
    requester_.reset();
    responder_.reset();
    if (!shares_buffers_) {
      context_.buffers.clear();
    }
  } else if (to == QpState::kRtr) {
    responder_.begin(context_.setup.peer_first_psn);
  } else if (to == QpState::kRts && from == QpState::kRtr) {
    requester_.begin(context_.setup.first_psn);
  }
  settle();
  return true;
}

PostResult QueuePair::post_send(const SendWork& work) {
  const PostResult result = requester_.post(work);
  settle();
  return result;
}

PostResult QueuePair::post_receive(const ReceiveWork& work) {
  if (context_.state == QpState::kReset && !shares_buffers_) {
    return PostResult::kWrongState;
  }
  const PostResult result = context_.buffers.post(work) ? PostResult::kTaken : PostResult::kFull;
  settle();
  return result;
}

// A NAK that has made the state ERR still goes out.
bool QueuePair::next(RdmaPacket& packet) {
  const bool has_packet = responder_.next(packet) || requester_.next(packet);
  settle();
  return has_packet;
}

RdmaEffect QueuePair::receive(const RdmaPacket& packet) {
  if (!is_for_us(packet)) {
    return {};
  }
  const RdmaEffect effect =
      info_of(packet.opcode).is_request() ? responder_.receive(packet) : requester_.receive(packet);
  settle();
  return effect;
}

void QueuePair::time_out() {
  requester_.time_out();
  settle();
}

// Checks 6 to 10, each with a counter, silent. [RX-1] [RX-C3, RX-C4, RX-C5]
bool QueuePair::is_for_us(const RdmaPacket& packet) {
  const auto opcode = static_cast<unsigned>(packet.opcode);
  const RdmaOpcodeInfo& info = info_of(packet.opcode);
  const bool is_sending = info.kind != RdmaPacketKind::kNone && !info.is_request();
  const struct {
    bool is_wrong;
    QpCounter counter;
  } checks[] = {
      {!packet.is_intact, QpCounter::kBadIcrc},
      {packet.version != 0, QpCounter::kBadVersion},
      {opcode >> 5 != 0, QpCounter::kBadTransport},
      {info.kind == RdmaPacketKind::kNone, QpCounter::kBadOpcode},
      {packet.queue_pair != context_.setup.number, QpCounter::kBadQueuePair},
      {!are_partners(packet.partition, context_.setup.partition), QpCounter::kBadPartition},
      {!is_one_of(context_.state, is_sending ? kSendingStates : kReceivingStates),
       QpCounter::kBadState}};
  for (const auto& check : checks) {
    if (check.is_wrong) {
      context_.count(check.counter);
      return false;
    }
  }
  return true;
}

// A completion queue in error takes its queue pairs with it; in ERR nothing waits. [VB-7, 8]
void QueuePair::settle() {
  if (context_.send_queue.has_failed() || context_.receive_queue.has_failed()) {
    context_.state = context_.state == QpState::kReset ? QpState::kReset : QpState::kError;
  }
  if (context_.state == QpState::kError) {
    requester_.flush();
    responder_.flush(shares_buffers_);
  }
}

}  // namespace flitwise
