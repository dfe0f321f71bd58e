// SPDX-License-Identifier: Apache-2.0
#include "rdma/hostile_guest.h"

#include <boost/endian/conversion.hpp>

#include <algorithm>
#include <utility>

#include "flitwise/link_socket.h"
#include "rdma/command_buffer.h"

namespace flitwise {

HostileGuest::HostileGuest(const sc_core::sc_module_name& name, const VerbsDriverConfig& config,
                           std::uint64_t acts, std::uint64_t bar, Random random, Hooks hooks)
    : ComponentModule(name),
      config_(config),
      acts_(acts),
      bar_(bar),
      hooks_(std::move(hooks)),
      random_(std::move(random)),
      wakeup_("wakeup", Time{1}),
      left_(acts) {
  wakeup_.wakes("act", [this] { act(); });
}

void HostileGuest::start(Time now, std::vector<std::uint16_t> registers) {
  registers_ = std::move(registers);
  if (left_ == 0) {
    end();
    return;
  }
  next_ = now;
  wakeup_.at(now);
}

void HostileGuest::add_progress(Progress& sum) const {
  sum.requests += acts_;
  sum.requests_over += acts_ - left_;
  sum.completed += acts_ - left_;
}

// As fast as software posts work requests; now and then it pauses for longer than commands are
// waited for.
void HostileGuest::act() {
  wakeup_.taken();
  const Time now = flitwise::now();
  hooks_.begins();
  void (HostileGuest::*const kActs[])() = {
      &HostileGuest::write_memory, &HostileGuest::write_entry, &HostileGuest::write_entry,
      &HostileGuest::write_bar,    &HostileGuest::ring,        &HostileGuest::arm,
      &HostileGuest::command,      &HostileGuest::command,     &HostileGuest::configure};
  (this->*kActs[below(std::size(kActs))])();
  --left_;
  const Time pause = below(64) == 0 ? Time::from_us(20) : config_.verbs.timing.post;
  next_ = left_ == 0 ? Time::never() : now + std::max(pause, Time{1});
  wakeup_.at(next_);
  if (left_ == 0) {
    end();
  }
}

void HostileGuest::end() {
  hooks_.shut_down([this] {
    is_over_ = true;
    hooks_.work_ended();
  });
}

// Any DW, or one that something happens with: Bus Master Enable, Initiate FLR, ATS. The hypervisor
// carries out one access at a time.
void HostileGuest::configure() {
  if (!hooks_.configure || is_configuring_) {
    return;
  }
  const auto any = static_cast<std::uint16_t>(4 * below(1024));
  const std::uint16_t offset =
      registers_.empty() || below(4) == 0 ? any : registers_[below(registers_.size())];
  const auto enables = static_cast<std::uint8_t>(below(2) == 0 ? 0xf : 1 + below(15));
  const std::uint32_t value =
      below(2) == 0 ? static_cast<std::uint32_t>(random_.next()) : 1U << below(32);
  is_configuring_ = true;
  hooks_.configure(offset, value, enables, [this] { is_configuring_ = false; });
}

// Anywhere in its own buffers: states, rings, completion queues, payload.
void HostileGuest::write_memory() {
  const RdmaArea area = config_.area(below(config_.pairs()));
  bytes_.resize(1 + below(kCommandLine));
  std::generate(bytes_.begin(), bytes_.end(),
                [this] { return static_cast<std::uint8_t>(random_.next()); });
  // Half of it where the adapter looks.
  const std::uint64_t span = below(2) == 0 ? area.bytes() : area.own(0) - area.base();
  const std::uint64_t offset = random_.below(span - bytes_.size() + 1);
  hooks_.poke(area.base() + offset, bytes_.data(), bytes_.size());
}

// Any bytes, of any size, to any place of its BAR; most of them near doorbells and commands.
void HostileGuest::write_bar() {
  bytes_.resize(1 + below(kCommandLine));
  std::generate(bytes_.begin(), bytes_.end(),
                [this] { return static_cast<std::uint8_t>(random_.next()); });
  const std::uint64_t near = config_.hca.commands() + kMostCommandBytes - config_.hca.doorbell;
  const std::uint64_t offset = below(4) == 0
                                   ? random_.below(bar_ - bytes_.size() + 1)
                                   : config_.hca.doorbell + random_.below(near - bytes_.size() + 1);
  store(offset, bytes_.data(), bytes_.size());
}

void HostileGuest::store_word(std::uint64_t offset, std::uint64_t word) const {
  boost::endian::native_to_little_inplace(word);
  store(offset, reinterpret_cast<const std::uint8_t*>(&word), sizeof(word));
}

// A work request that makes sense but for keys and addresses, or a receive buffer likewise, and
// the doorbell for it.
void HostileGuest::write_entry() {
  const std::uint32_t index = below(config_.pairs());
  const RdmaArea area = config_.area(index);
  const std::uint32_t end = below(2 * config_.hca.rdma.queue) + 1;
  const bool is_receive = below(4) == 0;
  if (is_receive) {
    const Sge piece = {some_address(), below(8192),
                       below(4) == 0 ? static_cast<std::uint32_t>(random_.next())
                                     : key_of(index, PairRegion::kOwn)};
    const ReceiveEntry entry = encode(ReceiveWork{random_.next(), view_of(piece)});
    hooks_.poke(area.receive_entry(end - 1), entry.data(), entry.size());
  } else {
    const SendEntry entry = some_entry();
    hooks_.poke(area.send_entry(end - 1), entry.data(), entry.size());
  }
  store_word(config_.hca.doorbell, Doorbell{index + kFirstQueuePair, is_receive, end}.encode());
}

void HostileGuest::ring() {
  store_word(
      config_.hca.doorbell,
      Doorbell{some_pair(), below(2) == 0, static_cast<std::uint32_t>(random_.next())}.encode());
}

void HostileGuest::arm() {
  store_word(config_.hca.arms(),
             CompletionArm{below(kCompletionQueues + 1), static_cast<std::uint32_t>(random_.next())}
                 .encode());
}

// Whole, or without its end, or from the middle on.
void HostileGuest::command() {
  SendEntry entry = some_entry();
  const std::uint32_t payload = below(2) == 0 ? 0 : below(kMostInlineBytes);
  put_command(
      entry, {some_pair(), static_cast<std::uint16_t>(below(config_.hca.rdma.queue)), payload > 0});
  bytes_.assign(entry.begin(), entry.end());
  bytes_.resize(command_bytes(payload));
  const std::uint32_t lines = static_cast<std::uint32_t>(bytes_.size()) / kCommandLine;
  const std::uint32_t first = below(4) == 0 ? below(lines) : 0;
  const std::uint32_t last = below(4) == 0 ? below(lines + 1ULL) : lines;
  for (std::uint32_t line = first; line < last; ++line) {
    const std::uint32_t at = line * kCommandLine;
    store(config_.hca.commands() + at, &bytes_[at], kCommandLine);
  }
}

SendEntry HostileGuest::some_entry() {
  SendWork work;
  work.id = random_.next();
  work.opcode = static_cast<WorkOpcode>(below(kWorkOpcodes));
  work.is_signaled = below(2) == 0;
  work.is_solicited = below(2) == 0;
  work.is_fenced = below(4) == 0;
  const auto key = [this](PairRegion region) {
    return below(4) == 0 ? static_cast<std::uint32_t>(random_.next())
                         : key_of(below(config_.pairs() + 1ULL), region);
  };
  work.local = view_of({some_address(), below(8192), key(PairRegion::kOwn)});
  work.remote_key = key(static_cast<PairRegion>(below(kPairRegions)));
  work.remote_address = some_address();
  work.immediate = key(PairRegion::kExposed);
  work.operand = random_.next();
  work.compare = random_.next();
  SendEntry entry = encode(work);
  if (below(8) == 0) {  // no opcode at all
    entry[below(entry.size())] = static_cast<std::uint8_t>(random_.next());
  }
  return entry;
}

std::uint32_t HostileGuest::some_pair() {
  return below(4) == 0 ? below(kPsnMask + 1ULL) : kFirstQueuePair + below(config_.pairs() + 1ULL);
}

// In its own buffers, in those of others, anywhere.
std::uint64_t HostileGuest::some_address() {
  switch (below(4)) {
    case 0: return random_.next();
    case 1:
      return config_.hca.buffer_base +
             random_.below(config_.hca.pairs * config_.hca.geometry.buffer);
    default: {
      const RdmaArea area = config_.area(below(config_.pairs()));
      return area.base() + random_.below(area.bytes());
    }
  }
}

}  // namespace flitwise
