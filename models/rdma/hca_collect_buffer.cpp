// SPDX-License-Identifier: Apache-2.0
#include "rdma/hca_collect_buffer.h"

#include <boost/endian/conversion.hpp>

#include <algorithm>

namespace flitwise {
namespace {

enum Region : unsigned { kDoorbell, kCommands };  // of BAR 0

}  // namespace

HcaCollectBuffer::HcaCollectBuffer(const HcaParts& parts, std::function<void(Time)> came)
    : HcaStage("collect_buffer", "device.rdma.timing.collect", parts.config.rdma.fifo,
               parts.config.rdma.timing.collect + parts.config.rdma.timing.clock,
               parts.config.rdma.timing.clock),
      s_(parts),
      came_(std::move(came)) {}

void HcaCollectBuffer::claim(BarMap& map) {
  map.claim({s_.config.doorbell, 8, 0, 1}, *this, kDoorbell);
  map.claim({s_.config.commands(), kMostCommandBytes, 0, 1}, *this, kCommands);
}

// A doorbell is whole or nothing; a command is collected.
void HcaCollectBuffer::mmio_write(const MmioPlace& place, const std::uint8_t* bytes,
                                  std::size_t size, Time now) {
  HcaPosted posted;
  std::uint32_t beats = 1;
  if (place.region == kCommands) {
    const auto stored = s_.commands.write(place.offset - s_.config.commands(), bytes, size, now);
    if (!stored) {
      ask_at(s_.commands.next());
      came_(s_.commands.next());
      return;
    }
    posted = {
        {stored->command.queue_pair, false, stored->command.number + 1U}, true, stored->token};
    beats = stored->lines;
  } else {
    posted.bell = size == 8 ? Doorbell::decode(boost::endian::load_little_u64(bytes))
                            : Doorbell{kPsnMask, false, 0};
  }
  push(posted, now, beats, s_.config.rdma.timing.clock * (beats - 1));
  came_(queue_.next());
}

void HcaCollectBuffer::mmio_read(const MmioRead& read, BarAccess& access, Time now) {
  const std::vector<std::uint8_t> ones(read.bytes, 0xff);
  access.answer(read, ones.data(), now);
}

bool HcaCollectBuffer::run(Time now) {
  s_.commands.expire(now);
  if (!queue_.is_due(now)) {
    return false;
  }
  while (queue_.is_due(now)) {
    take(queue_.take(now), now);
  }
  return true;
}

void HcaCollectBuffer::settle(Time now) {
  HcaStage::settle(now);
  ask_at(s_.commands.next());
}

// A ring never has more entries than it has room for.
void HcaCollectBuffer::take(const HcaPosted& posted, Time now) {
  const std::uint32_t number = posted.bell.queue_pair - kFirstQueuePair;
  HcaPair* const pair = number < s_.config.pairs ? &s_.pairs[number] : nullptr;
  HcaRing none;
  HcaRing& ring = pair == nullptr ? none : posted.bell.is_receive ? pair->receive : pair->send;
  std::uint32_t end = posted.bell.end;
  if (posted.is_command) {
    end = ring.posted + static_cast<std::uint16_t>(end - ring.posted);
  }
  if (pair == nullptr || end - ring.read > s_.config.rdma.queue) {
    ++bad_doorbells_;
    if (posted.token != kNobody) {
      s_.commands.close(posted.token);
    }
    return;
  }
  ring.posted = end;
  if (posted.token != kNobody) {
    s_.commands[posted.token].number = end - 1;
    s_.commands.push(pair->commands, posted.token);
  }
  s_.kicks.kick(number, now);
}

void HcaCollectBuffer::add_errors(std::map<std::string, std::uint64_t>& errors) const {
  errors["bad_doorbell"] += bad_doorbells_;
  errors["bad_command"] += s_.commands.bad();
  errors["command_timeout"] += s_.commands.timed_out();
}

}  // namespace flitwise
