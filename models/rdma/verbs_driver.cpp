// SPDX-License-Identifier: Apache-2.0
#include "rdma/verbs_driver.h"

#include <boost/endian/conversion.hpp>

#include <algorithm>
#include <utility>

#include "flitwise/link_socket.h"

namespace flitwise {
namespace {

constexpr std::uint32_t kAtomicBytes = 8;

}  // namespace

std::uint32_t VerbsDriverConfig::places() const {
  return hca.area(0).places();  // which has the completion queues too
}

std::uint32_t VerbsDriverConfig::receive_buffers(std::uint32_t pairs) const {
  return std::max(1U, std::min(places(), hca.rdma.cq / pairs));
}

VerbsDriver::VerbsDriver(const sc_core::sc_module_name& name, std::string device,
                         const VerbsDriverConfig& config, const WorkloadConfig& workload,
                         const DeviceConfig& device_config, const RunConfig& run, Hooks hooks)
    : ComponentModule(name),
      device_(std::move(device)),
      config_(config),
      workload_(workload),
      hooks_(std::move(hooks)),
      places_(config.places()),
      wakeup_("wakeup", Time{1}),
      random_(Random(run.seed).split("work requests")),
      pairs_(config.pairs()) {
  wakeup_.wakes("work", [this] { work(); });
  if (config.posts) {
    total_ = workload.requests + run.warmup;
    if (workload.kind == WorkloadKind::kFlows) {
      flows_.emplace(config.hca.peers.size(), workload.payload);
    } else {
      stream_ = Workload::make(workload, device_config, Random(run.seed).split("verbs").next(),
                               run.warmup);
    }
    requests_.resize(pairs_.size() * places_);
    is_exhausted_ = false;
  }
}

// It posts its pieces when it next has time, from the start of the flow on.
void VerbsDriver::post(std::uint32_t peer, const Flow& flow) {
  flows_->add(peer, flow);
  if (origin_ != Time::never() && !is_down_) {
    wakeup_.at(std::max(origin_ + flow.start, flitwise::now()));
  }
}

void VerbsDriver::completion_at(Time when) {
  if (is_down_) {
    return;
  }
  coming_.add(true, when);
  last_coming_ = std::max(last_coming_, when);
  wakeup_.at(std::max(next_look(), now()));
}

// A core takes it when the entries that went before it are in memory.
void VerbsDriver::interrupt(std::uint32_t queue, Time when) {
  if (is_down_) {
    return;
  }
  handler_at_[queue] = std::max(when, last_coming_) + config_.verbs.timing.interrupt;
  wakeup_.at(handler_at_[queue]);
}

// The first look that finds something: it looks at fixed distances from the end of what it did, or
// when a handler has begun.
Time VerbsDriver::next_look() const {
  if (config_.verbs.waits_for_interrupt) {
    return next_handler();
  }
  if (coming_.empty()) {
    return Time::never();
  }
  return free_ + next_edge(std::max(coming_.next() - free_, Time{}), config_.verbs.timing.poll);
}

void VerbsDriver::work() {
  wakeup_.taken();
  const Time now = flitwise::now();
  if (is_down_) {
    return;
  }
  if (free_ > now) {
    wakeup_.at(free_);
    return;
  }
  if (std::exchange(is_posting_, false)) {
    finish_post();
  }
  const bool is_at_work = look(now) || begin_post(now);
  thread_.set(is_at_work ? 1 : 0, now);
  if (is_at_work) {
    wakeup_.at(free_);
    return;
  }
  // A later entry may be in memory before the one that is due.
  const Time look = next_look() > now ? next_look() : now + config_.verbs.timing.poll;
  wakeup_.at(std::min(look, next_own_work()));
  if (waits_for_place_) {
    wakeup_.at(now + config_.verbs.timing.poll);
  }
}

Time VerbsDriver::next_own_work() const {
  if (flows_ && origin_ != Time::never() && !is_down_) {
    const Time next = flows_->next_start(flitwise::now() - origin_);
    return next == Time::never() ? next : origin_ + next;
  }
  const Time arrival = has_item_ ? origin_ + item_.at : Time::never();
  return has_item_ && !is_down_ && arrival > flitwise::now() ? arrival : Time::never();
}

// ---- completions

// A handler takes all that is there, then it arms its queue again. What comes before the order is
// there tells the adapter at once. [RDM-11]
bool VerbsDriver::look(Time now) {
  if (!config_.verbs.waits_for_interrupt) {
    return next_look() <= now && (take_completion(false, now) || take_completion(true, now));
  }
  for (std::uint32_t queue = 0; queue < kCompletionQueues; ++queue) {
    if (handler_at_[queue] > now) {
      continue;
    }
    if (take_completion(queue == 1, now)) {
      return true;
    }
    handler_at_[queue] = Time::never();
    arm(queue);
  }
  return false;
}

bool VerbsDriver::take_completion(bool is_receive, Time now) {
  const std::uint32_t entries = config_.hca.rdma.cq;
  std::uint64_t& looked = looked_[is_receive ? 1 : 0];
  const std::uint64_t address =
      config_.area(0).completion(is_receive, static_cast<std::uint32_t>(looked % entries));
  CompletionEntry entry;
  if (phase_of(hooks_.look(address + kPhaseAt)) != phase_of_entry(looked, entries)) {
    return false;
  }
  for (unsigned at = 0; at < kCompletionBytes; at += 8) {
    boost::endian::store_little_u64(&entry[at], hooks_.look(address + at));
  }
  ++looked;
  coming_.take();
  const WorkCompletion completion = decode_completion(entry.data());
  is_receive ? take_message(completion) : retire(completion, now);
  free_ = now + config_.verbs.timing.completion;
  return true;
}

// [VB-6]
void VerbsDriver::retire(const WorkCompletion& completion, Time now) {
  const std::uint32_t number = completion.queue_pair - kFirstQueuePair;
  Pair& pair = pairs_[number];
  last_done_ = now;
  if (completion.status == WorkStatus::kLocalOperation) {
    give_up(pair);
    return;
  }
  Request& request = request_of(number, pair.completed);
  disordered_ += completion.id == pair.completed && !completion.is_receive &&
                         completion.opcode == request.opcode && pair.completed != pair.posted
                     ? 0
                     : 1;
  ++pair.completed;
  ++completed_;
  pair.sends_completed += request.opcode == WorkOpcode::kSend ? 1 : 0;
  if (completion.status != WorkStatus::kSuccess) {
    ++errors_[name_of(completion.status)];
    pair.is_dead = true;
    return;
  }
  const RdmaArea own = config_.area(number);
  const std::uint32_t place = (pair.completed - 1) % places_;
  if (is_atomic(request.opcode)) {
    std::uint8_t word[kAtomicBytes];
    hooks_.own.peek(own.own(place), word, sizeof(word));
    expect_bytes(boost::endian::load_little_u64(word) == request.original);
    ++totals_.atomics;
  } else if (request.opcode == WorkOpcode::kRead) {
    expect_bytes(has_stamp(hooks_.own, own.own(place), request));
    ++totals_.reads;
  } else if (request.opcode == WorkOpcode::kWrite) {
    request.is_unseen = !config_.is_attacked;
    ++totals_.writes;
  } else {
    ++totals_.sends;
  }
  ++totals_.operations;
  totals_.bytes += completion.bytes;
  if (request.counts) {
    latency_.record(now - request.begun);
  }
}

// The adapter cannot read its ring: what was posted there ends here.
void VerbsDriver::give_up(Pair& pair) {
  const std::uint32_t left = pair.posted - pair.completed;
  ++errors_[name_of(WorkStatus::kLocalOperation)];
  if (left > 1) {
    errors_[name_of(WorkStatus::kFlushed)] += left - 1;
  }
  completed_ += left;
  pair.completed = pair.posted;
  pair.sends_completed = pair.sends;
  pair.is_dead = true;
}

// A SEND of the peer: its number among those of its queue pair says what its bytes are.
void VerbsDriver::take_message(const WorkCompletion& completion) {
  const std::uint32_t number = completion.queue_pair - kFirstQueuePair;
  Pair& pair = pairs_[number];
  disordered_ += completion.id == pair.received && completion.is_receive ? 0 : 1;
  if (completion.status != WorkStatus::kSuccess) {
    ++errors_[name_of(completion.status)];
    ++pair.received;
    return;
  }
  Request expected;
  expected.bytes = static_cast<std::uint32_t>(completion.bytes);
  expected.stamp = stamp_of_send(config_.peer_of(number).adapter, config_.pair_there(number),
                                 first_of_epoch(epoch_) + pair.received);
  const std::uint64_t address =
      config_.area(number).buffer(pair.received % config_.receive_buffers());
  expect_bytes(has_stamp(hooks_.own, address, expected));
  ++pair.received;
  ++received_;
  ++totals_.received;
  post_receive(number);
  hooks_.ring({completion.queue_pair, true, pair.receives_posted});
}

void VerbsDriver::post_receive(std::uint32_t number) {
  Pair& pair = pairs_[number];
  const RdmaArea area = config_.area(number);
  const std::uint32_t index = pair.receives_posted++;
  const Sge piece = {area.buffer(index % config_.receive_buffers()),
                     static_cast<std::uint32_t>(config_.hca.geometry.most_bytes),
                     key_of(number, PairRegion::kOwn)};
  const ReceiveEntry entry = encode(ReceiveWork{index, view_of(piece)});
  hooks_.own.poke(area.receive_entry(index), entry.data(), entry.size());
}

// ---- requests

void VerbsDriver::load() {
  bool is_new = false;
  while (!is_exhausted_ && !has_item_) {
    has_item_ = is_new = stream_->next(item_);
    is_exhausted_ = !has_item_;
    if (has_item_ && pairs_[pair_of_item()].is_dead) {
      drop_item();
    }
  }
  if (is_new && has_item_) {
    opcode_ = draw();
  }
  tell_end();
}

void VerbsDriver::tell_end() {
  if (has_given_out() && !has_told_) {
    has_told_ = true;
    hooks_.work_ended();
  }
}

// Its queue pair is in error.
void VerbsDriver::drop_item() {
  has_item_ = false;
  ++errors_["queue_pair_in_error"];
  ++not_posted_;
}

WorkOpcode VerbsDriver::draw() {
  const auto& weights = workload_.rdma;
  std::uint64_t drawn = random_.below(weights.sum());
  const std::pair<unsigned, WorkOpcode> kinds[] = {{weights.write, WorkOpcode::kWrite},
                                                   {weights.read, WorkOpcode::kRead},
                                                   {weights.send, WorkOpcode::kSend},
                                                   {weights.fetch_add, WorkOpcode::kFetchAdd},
                                                   {weights.cas, WorkOpcode::kCmpSwap}};
  for (const auto& [weight, opcode] : kinds) {
    if (drawn < weight) {
      return opcode;
    }
    drawn -= weight;
  }
  return WorkOpcode::kWrite;
}

// model: half of the receive buffers of the peer are for SENDs that are out, half on their way back
// to its queue.
bool VerbsDriver::has_room(std::uint32_t number, Time now) {
  const Pair& pair = pairs_[number];
  const std::uint32_t sends = pair.sends - pair.sends_completed;
  const bool has_entry = pair.posted - pair.completed < places_ &&
                         (opcode_ != WorkOpcode::kSend ||
                          sends < std::max(1U, config_.receive_buffers_there(number) / 2));
  const bool has_completion = posted_ - completed_ < config_.hca.rdma.cq;
  queue_wait_.set(!has_entry, queue_waits_, now);
  completions_wait_.set(has_entry && !has_completion, completions_waits_, now);
  return has_entry && has_completion && is_place_free(number);
}

// The software of the peer gives a place back when it has what was written there. An
// acknowledgement tells that the adapter has it.
bool VerbsDriver::is_place_free(std::uint32_t number) {
  const Pair& pair = pairs_[number];
  Request& last = request_of(number, pair.posted);
  last.is_unseen = last.is_unseen && !is_at_peer(number, pair.posted, last);
  waits_for_place_ = (flows_ && waits_for_place_) || last.is_unseen;
  return !last.is_unseen;
}

bool VerbsDriver::is_at_peer(std::uint32_t pair, std::uint32_t number,
                             const Request& request) const {
  return has_stamp(memory_of_peer(pair), config_.peer_area(pair).exposed(number % places_),
                   request);
}

// Of flows: of a queue pair that has room.
bool VerbsDriver::take_piece(Time now) {
  const auto may = [&](std::uint32_t pair) { return pairs_[pair].is_dead || has_room(pair, now); };
  waits_for_place_ = false;
  while (!is_exhausted_ && origin_ <= now && flows_->take(now - origin_, may, item_)) {
    has_item_ = true;
    opcode_ = WorkOpcode::kWrite;
    is_exhausted_ = posted_ + not_posted_ + 1 == total_;
    if (!pairs_[pair_of_item()].is_dead) {
      return true;
    }
    drop_item();
  }
  tell_end();
  return false;
}

bool VerbsDriver::take_item(Time now) {
  if (has_item_ && pairs_[pair_of_item()].is_dead) {
    drop_item();
  }
  load();
  return has_item_ && origin_ + item_.at <= now && has_room(pair_of_item(), now);
}

bool VerbsDriver::begin_post(Time now) {
  if (!(flows_ ? take_piece(now) : take_item(now))) {
    return false;
  }
  hooks_.begins();
  has_item_ = false;
  is_posting_ = true;
  begun_ = workload_.arrival == Arrival::kClosedLoop ? now : origin_ + item_.at;
  free_ = now + config_.verbs.timing.post;
  if (uses_command()) {
    free_ += config_.verbs.timing.store * (command_bytes(payload_of_item()) / kCommandLine);
  }
  return true;
}

void VerbsDriver::finish_post() {
  const std::uint32_t number = pair_of_item();
  Pair& pair = pairs_[number];
  const RdmaArea own = config_.area(number), peer = config_.peer_area(number);
  const std::uint32_t place = pair.posted % places_;
  Request& request = request_of(number, pair.posted);
  request = Request{};
  request.opcode = opcode_;
  request.bytes = is_atomic(opcode_) ? kAtomicBytes : item_.bytes;
  request.begun = begun_;
  request.counts = counts_;
  SendWork work;
  work.id = pair.posted;
  work.opcode = opcode_;
  work.is_signaled = true;
  work.local = view_of({own.own(place), request.bytes, key_of(number, PairRegion::kOwn)});
  const std::uint32_t there = config_.hca.index_of(config_.pair_there(number));
  work.remote_key = key_of(there, is_atomic(opcode_) ? PairRegion::kWord : PairRegion::kExposed);
  work.remote_address = is_atomic(opcode_) ? peer.word() : peer.exposed(place);
  const unsigned adapter = config_.hca.adapter;
  const std::uint32_t first = first_of_epoch(epoch_);
  request.stamp = opcode_ == WorkOpcode::kSend
                      ? stamp_of_send(adapter, config_.pair(number), first + pair.sends)
                      : stamp_of_request(adapter, config_.pair(number), first + pair.posted);
  if (is_atomic(opcode_)) {
    request.original = pair.word;
    work.operand = random_.next();
    work.compare = pair.word + (random_.chance(0.5) ? 1 : 0);  // half of them change nothing
    pair.word = opcode_ == WorkOpcode::kFetchAdd ? pair.word + work.operand
                : work.compare == pair.word      ? work.operand
                                                 : pair.word;
  } else {
    fill(request.stamp, request.bytes);
    const bool is_read = opcode_ == WorkOpcode::kRead;
    (is_read ? memory_of_peer(number) : hooks_.own)
        .poke(is_read ? peer.exposed(place) : own.own(place), bytes_.data(), bytes_.size());
  }
  pair.sends += opcode_ == WorkOpcode::kSend ? 1 : 0;
  SendEntry entry = encode(work);
  hooks_.own.poke(own.send_entry(pair.posted), entry.data(), entry.size());
  const std::uint32_t index = pair.posted++;
  ++posted_;
  if (uses_command()) {
    push(entry,
         {number + kFirstQueuePair, static_cast<std::uint16_t>(index), payload_of_item() > 0});
  } else {
    hooks_.ring({number + kFirstQueuePair, false, pair.posted});
  }
}

// Its payload is the one that was made last.
void VerbsDriver::push(SendEntry& entry, const Command& command) {
  put_command(entry, command);
  command_.assign(entry.begin(), entry.end());
  if (command.has_payload) {
    command_.insert(command_.end(), bytes_.begin(), bytes_.end());
  }
  command_.resize(command_bytes(payload_of_item()));
  hooks_.command(command_.data(), command_.size());
}

// ---- payload

// Eight bytes at a time, no two alike.
void VerbsDriver::fill(std::uint64_t stamp, std::uint32_t bytes) const {
  bytes_.resize((std::size_t{bytes} + 7) / 8 * 8);
  std::uint64_t word = stamp * 0x9e3779b97f4a7c15;
  for (std::size_t at = 0; at < bytes_.size(); at += 8) {
    word += 0xd1b54a32d192ed03;
    boost::endian::store_little_u64(&bytes_[at], word ^ word >> 29);
  }
  bytes_.resize(bytes);
}

bool VerbsDriver::has_stamp(const Memory& memory, std::uint64_t address,
                            const Request& request) const {
  fill(request.stamp, request.bytes);
  seen_.resize(request.bytes);
  memory.peek(address, seen_.data(), seen_.size());
  return seen_ == bytes_;
}

}  // namespace flitwise
