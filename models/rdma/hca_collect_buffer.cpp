// SPDX-License-Identifier: Apache-2.0
#include "rdma/hca_collect_buffer.h"

#include <boost/endian/conversion.hpp>

#include <algorithm>

namespace flitwise {
namespace {

enum Region : unsigned {
  kDoorbell,
  kArms,
  kShares,
  kControl,
  kForbidden,
  kCommands,
  kRegions
};                                                     // of BAR 0, for each place
constexpr std::uint64_t kNoPlace = ~std::uint64_t{0};  // of no queue pair and no queue

}  // namespace

HcaCollectBuffer::HcaCollectBuffer(const HcaParts& parts, std::function<void(Time)> came)
    : HcaStage("collect_buffer", "device.rdma.timing.collect", parts.config.rdma.fifo,
               parts.config.rdma.timing.collect + parts.config.rdma.timing.clock,
               parts.config.rdma.timing.clock),
      s_(parts),
      came_(std::move(came)) {}

void HcaCollectBuffer::claim(BarMap& map) {
  for (unsigned place = 0; place < s_.config.function_count(); ++place) {
    const unsigned function = s_.config.functions[place], first = place * kRegions;
    map.claim({s_.config.doorbell, 8, function, 1}, *this, first + kDoorbell);
    map.claim({s_.config.arms(), 8, function, 1}, *this, first + kArms);
    map.claim({s_.config.control(), 8, function, 1}, *this, first + kForbidden);
    map.claim({s_.config.commands(), kMostCommandBytes, function, 1}, *this, first + kCommands);
  }
  map.claim({s_.config.shares(), 8, 0, 1}, *this, kShares);
  map.claim({s_.config.control(), 8, 0, 1}, *this, kControl);
}

// A doorbell is whole or nothing; a command is collected.
void HcaCollectBuffer::mmio_write(const MmioPlace& place, const std::uint8_t* bytes,
                                  std::size_t size, Time now) {
  const unsigned region = place.region % kRegions;
  HcaPosted posted;
  posted.place = place.region / kRegions;
  std::uint32_t beats = 1;
  const bool is_down = s_.pairs.function(posted.place).is_down;
  if (region == kCommands) {
    if (is_down) {
      ++ignored_;
      return;
    }
    const auto stored =
        s_.commands.write(posted.place, place.offset - s_.config.commands(), bytes, size, now);
    if (!stored) {
      ask_at(s_.commands.next());
      came_(s_.commands.next());
      return;
    }
    posted.bell = {stored->command.queue_pair, false, stored->command.number + 1U};
    posted.is_command = true;
    posted.token = stored->token;
    beats = stored->lines;
  } else {
    const std::uint64_t word = size == 8 ? boost::endian::load_little_u64(bytes) : kNoPlace;
    if (region == kShares) {
      posted.share = ShareCommand::decode(word);
    } else if (region == kControl) {
      posted.control = AdapterCommand::decode(word);
      posted.is_void = !posted.control;
    } else if (region == kForbidden) {
      posted.is_void = true;
    } else if (region == kArms) {
      posted.arm = CompletionArm::decode(word);
    } else {
      posted.bell = Doorbell::decode(word);
    }
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

// A ring never has more entries than it has room for, and what is posted stays so.
void HcaCollectBuffer::take(const HcaPosted& posted, Time now) {
  if (posted.is_void || posted.control) {
    bad_commands_ += !posted.is_void && s_.control.command(*posted.control, now) ? 0 : 1;
    return;
  }
  if (!posted.share && s_.pairs.function(posted.place).is_down) {
    ++ignored_;
    if (posted.token != kNobody) {
      s_.commands.close(posted.token);
    }
    return;
  }
  if (posted.arm) {
    bad_doorbells_ += s_.outcomes.arm(posted.place, *posted.arm, now) ? 0 : 1;
    return;
  }
  if (posted.share) {
    bad_commands_ += s_.pairs.set_weight(*posted.share) ? 0 : 1;
    return;
  }
  const auto number = s_.config.pair_of(posted.place, posted.bell.queue_pair);
  HcaPair* const pair = number ? &s_.pairs[*number] : nullptr;
  HcaRing none;
  HcaRing& ring = pair == nullptr ? none : posted.bell.is_receive ? pair->receive : pair->send;
  std::uint32_t end = posted.bell.end;
  if (posted.is_command) {
    end = ring.posted + static_cast<std::uint16_t>(end - ring.posted);
  }
  const std::uint32_t room = s_.config.rdma.queue;
  if (pair == nullptr || end - ring.read > room || end - ring.posted > room) {
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
  s_.kicks.kick(*number, now);
}

void HcaCollectBuffer::add_errors(std::map<std::string, std::uint64_t>& errors) const {
  errors["bad_doorbell"] += bad_doorbells_;
  errors["bad_command"] += s_.commands.bad() + bad_commands_;
  errors["command_timeout"] += s_.commands.timed_out();
  errors["function_down"] += ignored_;
}

}  // namespace flitwise
