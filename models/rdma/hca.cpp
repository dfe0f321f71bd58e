// SPDX-License-Identifier: Apache-2.0
// Doorbells, kicks, states of queue pairs, and what is read from rings.
#include "rdma/hca.h"

#include <boost/endian/conversion.hpp>

#include <algorithm>

#include "flitwise/link_socket.h"

namespace flitwise {
namespace {

enum Region : unsigned { kDoorbell, kCommands };  // of BAR 0

// model: what of a queue pair goes to host memory.
std::vector<std::uint8_t> state_bytes(const QueuePair& pair) {
  const std::uint32_t words[] = {
      pair.setup().number,         static_cast<std::uint32_t>(pair.state()),
      pair.requester().oldest(),   pair.requester().sent_end(),
      pair.responder().expected(), pair.responder().messages()};
  std::vector<std::uint8_t> bytes(kQpStateBytes);
  for (std::size_t i = 0; i < std::size(words); ++i) {
    boost::endian::store_little_u32(&bytes[4 * i], words[i]);
  }
  return bytes;
}

// All that one stage can do now; false: nothing.
template <bool (Hca::*stage)(Time)>
bool all(Hca& adapter, Time now) {
  bool has_moved = false;
  while ((adapter.*stage)(now)) {
    has_moved = true;
  }
  return has_moved;
}

}  // namespace

Hca::Hca(const sc_core::sc_module_name& name, std::string device, const HcaConfig& config,
         std::function<void()> work_appeared)
    : ComponentModule(name),
      device_(std::move(device)),
      config_(config),
      wakeup_("wakeup", config.rdma.timing.clock),
      keys_(config.pairs),
      sends_(config.rdma.cq),
      receives_(config.rdma.cq),
      states_(config.rdma.qpsc_entries, 0),
      dma_(std::move(work_appeared), [this](Time when) { wakeup_.at(when); }),
      commands_(config.rdma.fifo),
      collect_("collect_buffer", "device.rdma.timing.collect", config.rdma.fifo,
               config.rdma.timing.collect + config.rdma.timing.clock, config.rdma.timing.clock),
      kicks_("virtual_kick", "device.rdma.timing.kick", config.pairs, config.rdma.timing.kick,
             config.rdma.timing.clock),
      fetch_("qp_fetch", "device.rdma.timing.fetch", config.rdma.fifo, config.rdma.timing.fetch,
             config.rdma.timing.clock),
      build_("packet_builder", "device.rdma.timing.build", config.rdma.fifo,
             config.rdma.timing.build, config.rdma.timing.clock),
      check_("packet_receiver", "device.rdma.timing.check", config.rdma.fifo,
             config.rdma.timing.check, config.rdma.timing.clock),
      receive_("receive", "device.rdma.timing.receive", config.rdma.fifo,
               config.rdma.timing.receive, config.rdma.timing.clock),
      entry_("receive_entry", "device.rdma.timing.entry", config.rdma.fifo, Time{}, Time{}),
      validate_("dma_validation", "device.rdma.timing.validate", config.rdma.fifo,
                config.rdma.timing.validate, config.rdma.timing.clock),
      complete_("completion", "device.rdma.timing.complete", config.rdma.fifo,
                config.rdma.timing.complete, config.rdma.timing.clock) {
  wakeup_.wakes("work", [this] { work(); });
  for (std::uint32_t pair = 0; pair < config.pairs; ++pair) {
    const RdmaArea area = config.area(pair);
    keys_.add({pair, area.base(), area.bytes(), kAllRdmaRights});
    pairs_.emplace_back(config_, pair, keys_, sends_, receives_);
  }
}

void Hca::claim(BarMap& map) {
  map.claim({config_.doorbell, 8, 0, 1}, *this, kDoorbell);
  map.claim({config_.commands(), kMostCommandBytes, 0, 1}, *this, kCommands);
}

void Hca::start() {
  for (Pair& pair : pairs_) {
    for (const QpState state : {QpState::kInit, QpState::kRtr, QpState::kRts}) {
      pair.rules.modify(state);
    }
    pair.state_in_memory = state_bytes(pair.rules);
  }
}

// A doorbell is whole or nothing; a command is collected. [HP-1]
void Hca::mmio_write(const MmioPlace& place, const std::uint8_t* bytes, std::size_t size,
                     Time now) {
  HcaPosted posted;
  std::uint32_t beats = 1;
  if (place.region == kCommands) {
    const auto stored = commands_.write(place.offset - config_.commands(), bytes, size, now);
    wakeup_.at(commands_.next());
    if (!stored) {
      return;
    }
    posted = {
        {stored->command.queue_pair, false, stored->command.number + 1U}, true, stored->token};
    beats = stored->lines;
  } else {
    posted.bell = size == 8 ? Doorbell::decode(boost::endian::load_little_u64(bytes))
                            : Doorbell{kPsnMask, false, 0};
  }
  collect_.push(posted, now, beats, config_.rdma.timing.clock * (beats - 1));
  wakeup_.at(collect_.next());
}

void Hca::mmio_read(const MmioRead& read, BarAccess& access, Time now) {
  const std::vector<std::uint8_t> ones(read.bytes, 0xff);
  access.answer(read, ones.data(), now);
}

void Hca::work() {
  wakeup_.taken();
  const Time now = flitwise::now();
  commands_.expire(now);
  take_done(now);
  while (step(now)) {
  }
  Time next = std::min({dma_.next_done(), arriving_.next(), timers_.next(), commands_.next()});
  const bool waits_for_port = build_.is_due(now);
  next = std::min({next, collect_.settle(now), kicks_.settle(now), fetch_.settle(now),
                   build_.settle(now), check_.settle(now), receive_.settle(now), entry_.settle(now),
                   validate_.settle(now), complete_.settle(now)});
  wakeup_.at(waits_for_port ? std::min(next, port_free_) : next);
}

// What is behind goes first, so that there is room for what is before. False: nothing moved.
bool Hca::step(Time now) {
  bool has_moved = all<&Hca::run_timer>(*this, now);
  has_moved = all<&Hca::complete>(*this, now) || has_moved;
  has_moved = all<&Hca::validate>(*this, now) || has_moved;
  has_moved = all<&Hca::receive>(*this, now) || has_moved;
  has_moved = all<&Hca::dispatch>(*this, now) || has_moved;
  has_moved = all<&Hca::fetch>(*this, now) || has_moved;
  has_moved = all<&Hca::check>(*this, now) || has_moved;
  has_moved = all<&Hca::take_frame>(*this, now) || has_moved;
  has_moved = all<&Hca::transmit>(*this, now) || has_moved;
  has_moved = all<&Hca::build>(*this, now) || has_moved;
  has_moved = all<&Hca::make_packet>(*this, now) || has_moved;
  return all<&Hca::take_doorbell>(*this, now) || has_moved;
}

bool Hca::take_doorbell(Time now) {
  if (collect_.is_due(now)) {
    take_posted(collect_.take(), now);
    return true;
  }
  if (kicks_.is_due(now) && !fetch_.is_full()) {
    Arrived kicked;
    kicked.pair = kicks_.take();
    pairs_[kicked.pair].is_kicked = false;
    fetch_.push(std::move(kicked), now);
    return true;
  }
  return false;
}

// A ring never has more entries than it has room for. [HP-1]
void Hca::take_posted(const HcaPosted& posted, Time now) {
  const std::uint32_t number = posted.bell.queue_pair - kFirstQueuePair;
  Pair* const pair = number < config_.pairs ? &pairs_[number] : nullptr;
  HcaRing none;
  HcaRing& ring = pair == nullptr ? none : posted.bell.is_receive ? pair->receive : pair->send;
  std::uint32_t end = posted.bell.end;
  if (posted.is_command) {
    end = ring.posted + static_cast<std::uint16_t>(end - ring.posted);
  }
  if (pair == nullptr || end - ring.read > config_.rdma.queue) {
    ++bad_doorbells_;
    if (posted.token != kNobody) {
      commands_.close(posted.token);
    }
    return;
  }
  ring.posted = end;
  if (posted.token != kNobody) {
    commands_[posted.token].number = end - 1;
    commands_.push(pair->commands, posted.token);
  }
  kick(number, now);
}

// Each queue pair waits for its turn once: round robin.
void Hca::kick(std::uint32_t pair, Time now) {
  if (!pairs_[pair].is_kicked) {
    pairs_[pair].is_kicked = true;
    kicks_.push(pair, now);
  }
}

// [HP-2, HP-3]
bool Hca::fetch(Time now) {
  if (!fetch_.is_due(now) || fetched_.size() + unfetched_.size() >= config_.rdma.fifo) {
    return false;
  }
  const std::uint32_t pair = fetch_.front().pair;
  const QpLookup found = states_.look_up({0, pair});
  const bool is_stalled = found.outcome == QpLookup::Outcome::kStall;
  totals_.qpsc_stalls += is_stalled && !pinned_wait_.is_open() ? 1 : 0;
  pinned_wait_.set(is_stalled, pinned_waits_, now);
  if (is_stalled) {
    return false;
  }
  pairs_[pair].entry = found.entry;
  if (found.writes_back) {
    write_state_back(found.writes_back->number, now);
  }
  if (found.outcome == QpLookup::Outcome::kFetch) {
    HcaDma::Job& read = dma_.make();
    read.kind = HcaDma::Kind::kState;
    read.queue_pair = pair;
    read.address = config_.area(pair).state();
    read.bytes = kQpStateBytes;
    dma_.start(read, now);
  }
  const bool is_hit = found.outcome == QpLookup::Outcome::kHit;
  ++(is_hit ? totals_.qpsc_hits : totals_.qpsc_misses);
  (is_hit ? fetched_ : unfetched_).push_back(fetch_.take());
  return true;
}

void Hca::write_state_back(std::uint32_t pair, Time now) {
  HcaDma::Job& write = dma_.make();
  write.kind = HcaDma::Kind::kStateBack;
  write.is_read = false;
  write.queue_pair = pair;
  write.address = config_.area(pair).state();
  write.bytes = kQpStateBytes;
  write.own = pairs_[pair].state_in_memory = state_bytes(pairs_[pair].rules);
  dma_.start(write, now);
}

// What is read has to be what was written back. One that cannot be read ends its queue pair.
void Hca::state_came(const HcaDma::Job& job, Time now) {
  Pair& pair = pairs_[job.queue_pair];
  wrong_states_ += !job.is_ok || job.own == pair.state_in_memory ? 0 : 1;
  states_.end_fetch(pair.entry, true);
  if (!job.is_ok) {
    pair.rules.modify(QpState::kError);
    after_rules(job.queue_pair, now);
  }
  for (auto one = unfetched_.begin(); one != unfetched_.end();) {
    if (one->pair == job.queue_pair) {
      fetched_.push_back(std::move(*one));
      one = unfetched_.erase(one);
    } else {
      ++one;
    }
  }
}

void Hca::release(std::uint32_t pair) {
  states_.mark_dirty(pairs_[pair].entry);
  states_.unpin(pairs_[pair].entry);
}

bool Hca::dispatch(Time now) {
  if (fetched_.empty() || (fetched_.front().frame && receive_.is_full())) {
    return false;
  }
  Arrived one = std::move(fetched_.front());
  fetched_.pop_front();
  if (one.frame) {
    receive_.push(std::move(one), now);
    return true;
  }
  read_ring(one.pair, false, now);
  read_ring(one.pair, true, now);
  ready(one.pair);
  release(one.pair);
  return true;
}

// Up to the end of the ring at a time. The queue pair is pinned until the entries are there.
void Hca::read_ring(std::uint32_t pair, bool is_receive, Time now) {
  HcaRing& ring = is_receive ? pairs_[pair].receive : pairs_[pair].send;
  if (!is_receive && !ring.is_read_out) {
    take_commands(pairs_[pair]);
  }
  if (ring.is_read_out || ring.left() == 0) {
    return;
  }
  const RdmaArea area = config_.area(pair);
  const std::uint32_t to_end = config_.rdma.queue - ring.read % config_.rdma.queue;
  std::uint32_t entries = std::min({ring.left(), config_.rdma.wqe_batch, to_end});
  if (const HcaCommands::Queue& commands = pairs_[pair].commands;
      !is_receive && !commands.empty()) {
    entries = std::min(entries, commands_[commands.first].number - ring.read);
  }
  HcaDma::Job& job = dma_.make();
  job.kind = is_receive ? HcaDma::Kind::kReceiveEntries : HcaDma::Kind::kSendEntries;
  job.queue_pair = pair;
  job.address = is_receive ? area.receive_entry(ring.read) : area.send_entry(ring.read);
  job.bytes = entries * (is_receive ? kReceiveEntryBytes : kWqeBytes);
  job.tag = entries;
  ring.is_read_out = true;
  pin(pair);
  dma_.start(job, now);
}

// Commands whose turn it is: those whose entry would be the next to be read. One behind that has
// come a second time.
void Hca::take_commands(Pair& pair) {
  while (!pair.commands.empty()) {
    const HcaCommands::Record& first = commands_[pair.commands.first];
    const auto ahead = static_cast<std::int32_t>(first.number - pair.send.read);
    if (ahead > 0) {
      return;
    }
    const std::uint32_t token = commands_.pop(pair.commands);
    if (ahead == 0) {
      ++pair.send.read;
      ++totals_.pushed;
      post_entry(pair, false, first.bytes.data());
    }
    if (ahead == 0 && first.has_payload) {
      commands_.push(pair.payloads, token);
    } else {
      commands_.close(token);
    }
  }
}

// The rules take an entry; null: it could not be read.
void Hca::post_entry(Pair& pair, bool is_receive, const std::uint8_t* entry) {
  PostResult result = PostResult::kMalformed;
  if (entry != nullptr && is_receive) {
    result = pair.rules.post_receive(decode_receive(entry));
  } else if (const auto work = entry == nullptr ? std::nullopt : decode_send(entry); work) {
    result = pair.rules.post_send(*work);
    ++totals_.wqes;
  }
  if (result != PostResult::kTaken) {  // nobody can tell what software had meant
    ++bad_entries_;
    pair.rules.modify(QpState::kError);
  }
}

// Entries have come.
void Hca::post(const HcaDma::Job& job, Time now) {
  Pair& pair = pairs_[job.queue_pair];
  const bool is_receive = job.kind == HcaDma::Kind::kReceiveEntries;
  HcaRing& ring = is_receive ? pair.receive : pair.send;
  for (std::uint64_t i = 0; i < job.tag; ++i) {
    const std::size_t at = i * (is_receive ? kReceiveEntryBytes : kWqeBytes);
    post_entry(pair, is_receive, job.is_ok ? &job.own[at] : nullptr);
  }
  ring.read += static_cast<std::uint32_t>(job.tag);
  ring.is_read_out = false;
  after_rules(job.queue_pair, now);
  ready(job.queue_pair);
  read_ring(job.queue_pair, is_receive, now);
  release(job.queue_pair);
}

void Hca::take_done(Time now) {
  while (HcaDma::Job* const job = dma_.take_done(now)) {
    switch (job->kind) {
      case HcaDma::Kind::kSendEntries:
      case HcaDma::Kind::kReceiveEntries: post(*job, now); break;
      case HcaDma::Kind::kState: state_came(*job, now); break;
      case HcaDma::Kind::kPayload: payload_came(*job, now); break;
      case HcaDma::Kind::kOperand: finish_atomic(*job, now); break;
      case HcaDma::Kind::kResult:
      case HcaDma::Kind::kReceived: placed(*job); break;
      case HcaDma::Kind::kStateBack:
      case HcaDma::Kind::kCompletion: break;
    }
    dma_.free(*job);
  }
}

}  // namespace flitwise
