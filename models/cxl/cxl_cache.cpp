// SPDX-License-Identifier: Apache-2.0
// Both ends of CXL.cache: a device cache, and the home of the host's memory.
#include "cxl/cache_device.h"

#include <fmt/format.h>

#include <utility>

#include "coherence/cache_rules.h"
#include "common/ranges.h"
#include "cxl/home.h"

namespace flitwise {
namespace {

DeviceCacheConfig rules_for(const CxlCacheConfig& cache, std::uint8_t cache_id, bool has_domains) {
  DeviceCacheConfig rules;
  rules.keeps_domains_apart = has_domains;
  rules.ways = cache.ways;
  rules.sets = static_cast<std::uint32_t>(cache.size / kCxlLineBytes / cache.ways);
  rules.cqids = cache.requests;
  rules.cache_id = cache_id;
  rules.offers_clean_evictions = cache.offers_clean_evictions;
  return rules;
}

CoreOp write_of(CxlCacheWrite write) {
  static constexpr CoreOp kWrites[] = {CoreOp::kWrite, CoreOp::kWriteThrough, CoreOp::kWritePosted};
  return kWrites[static_cast<std::size_t>(write)];
}

// A request that gives a line up.
bool evicts(const CxlMessage& message) {
  return message.channel == CxlChannel::kD2hReq &&
         is_eviction(static_cast<cxl::D2hReq>(message.opcode));
}

// Bogus data are of no line.
bool is_line(const CxlMessage& message) {
  return message.channel == CxlChannel::kD2hData && !message.bogus;
}

}  // namespace

CxlCacheDevice::CxlCacheDevice(const sc_core::sc_module_name& name, const DeviceConfig& config,
                               const CxlDomainField& field, LineNames& names, std::uint8_t cache_id,
                               PacketPool& pool, LatencyTracer& tracer, LineStateListener* listener)
    : LineAgent(
          name, config.timing.clock, pool,
          LineCore(pool, tracer, read_of(config.cxl.cache.read), write_of(config.cxl.cache.write)),
          "up", "device.cxl.cache.requests", config.cxl.cache.requests, "device.cxl.cache.size"),
      config_(config),
      rules_(rules_for(config.cxl.cache, cache_id, field.is_there()), listener),
      field_(field),
      names_(names) {
  if (field.takes_handles()) {
    names.on_change([this] { wake(); });
  }
}

void CxlCacheDevice::attach(LineAddresses& addresses) {
  addresses_ = &addresses;
  addresses.on_change([this](Time when) { wakeup_.at(when); });
}

// Lines stand under addresses of the host. What goes to the home needs a name; another domain's
// line has to leave before. [COH-2.9] [CXL-7.8] [CXL-7.12]
CoreObstacle CxlCacheDevice::obstacle(const CoreRequest& asked) {
  place_ = {LineAddresses::Outcome::kKnown, asked.address, {}};
  name_ = {};
  if (addresses_ != nullptr) {
    place_ = addresses_->translate(core_.transfer(), asked.address, asked.is_write(), now());
  }
  if (place_.outcome != LineAddresses::Outcome::kKnown) {
    return place_.outcome == LineAddresses::Outcome::kWait ? CoreObstacle::kAddress
                                                           : CoreObstacle::kNone;
  }
  CoreRequest request = asked;
  request.address = place_.address;
  const CoreObstacle found = LineAgent::obstacle(request);
  if (found == CoreObstacle::kDomain) {
    rules_.give_up(line_of(request.address), out_);
    counts_ = core_.transfer().counts;
    send_all(cache().lookup);
    return CoreObstacle::kLine;
  }
  if (found != CoreObstacle::kNone || !field_.takes_handles()) {
    return found;
  }
  if (rules_.asks_home(request)) {
    name_ = names_.acquire_for_line(core_.transfer(), now());
  }
  return name_.outcome == Handles::Outcome::kWait ? CoreObstacle::kHandle : CoreObstacle::kNone;
}

// A request that cannot be named, or has no address, fails here.
void CxlCacheDevice::request(const CoreRequest& asked) {
  const bool is_lost = place_.outcome == LineAddresses::Outcome::kFailed;
  if (is_lost || name_.outcome == Handles::Outcome::kUnnamed) {
    unnamed_ += is_lost ? 0 : 1;
    results_.push_back({asked.op, asked.token, asked.address, true, {}});
    if (!is_lost && addresses_ != nullptr) {
      addresses_->begin(false);
    }
    return;
  }
  CoreRequest request = asked;
  request.address = place_.address;
  if (addresses_ != nullptr) {
    core_.asked_at(request.token, request.address);
    uses_.resize(std::max<std::size_t>(uses_.size(), request.token + std::size_t{1}));
    uses_[request.token] = addresses_->begin(rules_.asks_home(request));
  }
  if (name_.pin) {
    pins_.resize(std::max<std::size_t>(pins_.size(), request.token + std::size_t{1}));
    pins_[request.token] = name_.pin;
  }
  LineAgent::request(request);
}

// Whose the request really is, the home learns from the field alone; the rest is for its books.
void CxlCacheDevice::name_domain(Packet& packet) const {
  if (!field_.is_there()) {
    return;
  }
  const DeviceIdentity& domain = names_.identity_of(packet.domain);
  packet.identity = domain;
  packet.context = names_.context_of(packet.domain);
  packet.has_identity = true;
  packet.cxl->identity =
      name_.outcome == Handles::Outcome::kHandle ? field_.of(name_.dhi) : field_.of(domain);
}

void CxlCacheDevice::let_go_of_handles() {
  for (const CoreResult& result : results_) {
    if (result.token < pins_.size() && pins_[result.token]) {
      names_.line_over(std::exchange(pins_[result.token], {}), now());
    }
    if (result.token < uses_.size()) {
      end_use(uses_[result.token]);
    }
  }
}

void CxlCacheDevice::end_use(LineAddresses::Use& use) {
  if (use.epoch != 0) {
    addresses_->end(std::exchange(use, {}), now());
  }
}

// A miss in the ATC holds up all lines behind it. [CXL-7.12]
std::vector<WaitResult> CxlCacheDevice::waits() const {
  std::vector<WaitResult> all = LineAgent::waits();
  if (addresses_ != nullptr) {
    all.push_back(core_.wait_for(CoreObstacle::kAddress,
                                 {name(), "translations", ResourceRole::kSlots, "up", "", ""}));
  }
  return all;
}

std::map<std::string, std::uint64_t> CxlCacheDevice::errors() const {
  std::map<std::string, std::uint64_t> all = LineAgent::errors();
  all["cxl_request_unnamed"] = unnamed_;
  return all;
}

bool CxlCacheDevice::is_asked(const CxlMessage& message) {
  return message.channel == CxlChannel::kD2hReq && !evicts(message);
}

void CxlCacheDevice::count_asked(bool is_write, bool is_hit) {
  ++(is_write ? done_.writes : done_.reads);
  done_.hits += is_hit ? 1 : 0;
}

void CxlCacheDevice::count_sent(const CxlMessage& message) {
  if (evicts(message)) {
    ++done_.evictions;
  } else if (message.channel == CxlChannel::kD2hRsp) {
    ++done_.snoops;
    done_.snoops_modified += brings_line(static_cast<cxl::D2hRsp>(message.opcode)) ? 1 : 0;
  } else if (message.channel == CxlChannel::kD2hData) {
    ++(is_line(message) ? lines_sent_ : done_.bogus);
  }
}

void CxlCacheDevice::send(PacketRef message) {
  lines_sent_ += is_line(*message->cxl) ? 1 : 0;  // the home counts it too
  to_link.send(std::move(message), now());
}

void CxlCacheDevice::come(Packet& packet) {
  rules_.receive(*packet.cxl, line_with(packet), out_, results_);
  send_all(cache().lookup);
  let_go_of_handles();
  core_.finish(results_, now() + cache().lookup, true);
}

void CxlCacheDevice::link_lost(std::uint64_t lines_received) {
  for (HandlePin& pin : pins_) {
    if (pin) {
      names_.line_over(std::exchange(pin, {}), now());
    }
  }
  for (LineAddresses::Use& use : uses_) {
    end_use(use);
  }
  lose(rules_.lose_all() + lines_sent_ - lines_received);
  lines_sent_ = 0;
}

std::string CxlCacheDevice::waiting() const {
  return is_quiet() ? ""
                    : fmt::format("{}: {} lines wait for the home, {} CXL.cache requests are out\n",
                                  name(), core_.lines_out(), rules_.outstanding());
}

void CxlCacheDevice::start_window() {
  window_ = done_;
  LineAgent::start_window();
}

void CxlCacheDevice::report(RunResult& result) const {
  CxlCacheResult row = done_;
  row -= window_;
  row.device = name();
  result.rows<CxlCacheResult>().push_back(row);
}

CxlHome::CxlHome(const sc_core::sc_module_name& name, const HostConfig& config, CxlStandIn stand_in,
                 std::uint8_t caches, PacketPool& pool, MemoryPort& memory)
    : ComponentModule(name),
      config_(config),
      pool_(pool),
      memory_(memory),
      wakeup_("wakeup", config.timing.clock),
      rules_({caches, kCxlIds, config.cxl_cache.pulls_clean_evictions}, *this, this),
      stand_in_(std::move(stand_in)) {
  for (int number = 0; number < caches; ++number) {
    ports_.push_back(std::make_unique<Port>(fmt::format("port{}", number)));
    ports_.back()->most_at_work = rules_.most_at_work();
    ports_.back()->from_link.register_nb_transport_fw(this, &CxlHome::receive, number);
  }
  wakeup_.wakes("work_process", [this] { work(); });
}

tlm::tlm_sync_enum CxlHome::receive(int port, Packet& packet, tlm::tlm_phase& /*phase*/,
                                    sc_core::sc_time& /*delay*/) {
  inward_ = config_.cxl_cache.bridge + config_.cxl_cache.lookup;
  counts_ = packet.counts;
  Port& from = *ports_[static_cast<std::size_t>(port)];
  const CxlMessage& message = *packet.cxl;
  if (message.channel == CxlChannel::kD2hReq && message.id < kCxlIds) {
    from.asked[message.id] = {
        static_cast<std::uint32_t>(__builtin_popcountll(message.byte_enables)), packet.counts};
  }
  from.lines_received += message.channel == CxlChannel::kD2hData && !message.bogus ? 1 : 0;
  const auto number = static_cast<std::uint8_t>(port);
  const bool asks = message.channel == CxlChannel::kD2hReq &&
                    is_checked(static_cast<cxl::D2hReq>(message.opcode));
  if (asks && is_interrupt_address(message.address)) {
    refuse(number, packet, "not_an_interrupt");  // there is no memory [LNK-9.22]
    serve(number, packet, {LineRights::none(), arrivals_++});
  } else if (asks && from.gate != nullptr) {
    take_request(number, packet);
  } else {
    serve(number, packet, {{}, arrivals_++});
  }
  return tlm::TLM_COMPLETED;
}

// The data that a refusal comes with say nothing: none of them is what was asked for. [COH-3.13]
void CxlHome::serve(std::uint8_t port, const Packet& packet, const RequestPermit& permit) {
  const CxlMessage& message = *packet.cxl;
  if (message.channel == CxlChannel::kD2hReq && message.id < kCxlIds &&
      !are_enough(static_cast<cxl::D2hReq>(message.opcode), permit.rights)) {
    ports_[port]->asked[message.id].bytes = 0;
  }
  rules_.receive(port, *packet.cxl, line_with(packet), out_, permit);
  send_all();
  go_on_with_recalls();
}

// Look-up and permission take their time in front of the directory. [CXL-7.7] [CXL-7.10]
void CxlHome::take_request(std::uint8_t number, Packet& packet) {
  const LineGate::Verdict verdict = ports_[number]->gate->check(packet, now());
  inward_ += verdict.latency;
  const std::uint64_t arrival = arrivals_++;
  packet.tlp.requester_id = verdict.domain.bdf;  // of a refusal
  if (verdict.refusal != nullptr) {
    refuse(number, packet, verdict.refusal);
    if (verdict.is_disabled) {
      refuse(number, packet, "handle_while_disabled");  // only the device's end is enabled [DHI D5]
    }
    serve(number, packet, {LineRights::none(), arrival});
  } else if (agent_ != nullptr && agent_->is_enabled()) {
    const LineRights needed = needs_of(static_cast<cxl::D2hReq>(packet.cxl->opcode));
    const std::uint32_t ticket = checks_.open({PacketRef(&packet), number, arrival});
    agent_->translate(*this, ticket,
                      LineGate::permission_request(verdict, packet.cxl->address, needed),
                      packet.request, inward_);
  } else {
    serve(number, packet, {{}, arrival});
  }
}

void CxlHome::refuse(std::uint8_t port, const Packet& packet, const char* kind) {
  ++refusals_[kind];
  if (observer_ != nullptr && *observer_) {
    (*observer_)({now(), ports_[port]->name(), "unsupported_request", kind, &packet});
  }
}

void CxlHome::translated(std::uint64_t ticket, const WalkResult& result, Time when) {
  Check& check = checks_[static_cast<std::uint32_t>(ticket)];
  const PacketRef packet = std::move(check.packet);
  const Check done = std::exchange(check, Check{});
  checks_.close(static_cast<std::uint32_t>(ticket));
  if (!packet) {
    go_on_with_recalls();
    return;
  }
  const bool is_granted = result.outcome == WalkOutcome::kTranslated;
  if (!is_granted) {
    refuse(done.port, *packet, "translation_fault");
  }
  inward_ = std::max(when, now()) - now();
  counts_ = packet->counts;
  const LineRights rights = is_granted ? LineRights{result.read, result.write} : LineRights::none();
  serve(done.port, *packet, {rights, done.arrival});
}

bool CxlHome::has_older_than(std::uint64_t arrival) const {
  return rules_.has_older_than(arrival) ||
         std::any_of(checks_.begin(), checks_.end(),
                     [arrival](const Check& check) { return check.arrival < arrival; });
}

// First nothing is granted any more, which software and the agent see to. Then what was granted
// before is drained, with its write pulls; then the lines are snooped: one that is snooped earlier
// may be fetched again by what is under way. [COH-3.14] [SEC-05]
void CxlHome::invalidated(const PhysicalPages& pages) {
  if (pages.bytes == 0) {
    return;
  }
  fence_ = arrivals_;
  is_waited_for_ = true;
  recalls_.push_back(pages);
  told_of_.push_back({pages, fence_});
  inward_ = Time{};
  recall_if_drained();
}

void CxlHome::recall_if_drained() {
  if (recalls_.empty() ||
      (has_older_than(fence_) && !(recalls_early_ != nullptr && recalls_early_()))) {
    return;
  }
  const std::uint64_t arrival = arrivals_++;
  for (const PhysicalPages& pages : recalls_) {
    rules_.recall(pages.from, pages.bytes, arrival, out_);
  }
  recalls_.clear();
  fence_ = arrivals_;
  send_all();
}

void CxlHome::go_on_with_recalls() {
  if (!is_waited_for_) {
    return;
  }
  recall_if_drained();
  if (is_drained()) {
    is_waited_for_ = false;
    for (const Recall& one : std::exchange(told_of_, {})) {
      if (listener_ != nullptr) {
        listener_->recalled(one.pages, one.before);
      }
    }
    agent_->drained();
  }
}

// Messages go as far as the home can say now; what waits for memory goes when memory is done.
void CxlHome::send_all() {
  const Time ready = now() + inward_ + config_.cxl_cache.bridge;
  while (!out_.empty()) {
    sent_.swap(out_);
    for (const CxlOut& out : sent_) {
      Port& port = *ports_[out.port];
      if (!port.is_down && !(stand_in_ && is_answered(out))) {
        port.to_link.send(packet_for(out, port), ready);
      }
    }
    sent_.clear();
  }
}

// Responses and data are those of their request, and of a line only what was asked for is payload.
PacketRef CxlHome::packet_for(const CxlOut& out, const Port& port) {
  if (out.message.channel == CxlChannel::kH2dReq) {
    return cxl_packet(pool_, out, counts_);
  }
  const Asked& asked = port.asked[out.message.id];
  PacketRef packet = cxl_packet(pool_, out, asked.counts);
  if (out.message.channel == CxlChannel::kH2dData) {
    packet->payload_bytes = asked.bytes;
  }
  return packet;
}

bool CxlHome::is_answered(const CxlOut& out) {
  const std::optional<CxlMessage> answer = stand_in_(out.message);
  if (answer) {
    rules_.receive(out.port, *answer, CxlLine{}, out_);
  }
  return answer.has_value();
}

void CxlHome::read(std::uint32_t token, std::uint64_t line) {
  PacketRef packet = pool_.make(PacketKind::kCxl);
  packet->cxl->channel = CxlChannel::kM2sReq;
  packet->cxl->opcode = static_cast<std::uint8_t>(cxl::M2sReq::kMemRd);
  access(std::move(packet), token, line);
}

void CxlHome::write(std::uint32_t token, std::uint64_t line, const CxlLine& data,
                    std::uint64_t byte_enables) {
  PacketRef packet = pool_.make(PacketKind::kCxl);
  packet->cxl->channel = CxlChannel::kM2sRwd;
  packet->cxl->opcode = static_cast<std::uint8_t>(
      byte_enables == kAllBytes ? cxl::M2sRwd::kMemWr : cxl::M2sRwd::kMemWrPtl);
  packet->cxl->byte_enables = byte_enables;
  packet->payload.assign(data.begin(), data.end());
  access(std::move(packet), token, line);
}

// As many tokens as requests have ever been at the home at once.
void CxlHome::has_turn(std::uint32_t token) {
  if (token >= turns_.size()) {
    turns_.resize(token + std::size_t{1});
  }
  turns_[token] = now() + inward_;
}

void CxlHome::is_at_work(std::uint8_t port, std::uint32_t token) {
  ports_[port]->work_waits.add(turns_[token], now() + inward_);
}

// Data that do not come are missed now.
void CxlHome::write_over(std::uint8_t port, std::uint64_t line, bool is_written) {
  if (ports_[port]->on_write_over) {
    ports_[port]->on_write_over(line, is_written, is_written ? memory_at_ : now());
  }
}

void CxlHome::access(PacketRef packet, std::uint32_t token, std::uint64_t line) {
  packet->cxl->address = line;
  packet->request = token;
  packet->counts = counts_;
  ++in_memory_;
  memory_.submit(*this, std::move(packet), line, inward_);
}

// It may be done within submit(), for a time to come: the rules hear of it then.
void CxlHome::memory_done(const MemoryTransaction& transaction, Time when) {
  Packet& packet = *transaction.packet;
  if (!packet.cxl->has_data()) {
    packet.payload.assign(transaction.data.begin(), transaction.data.begin() + kCxlLineBytes);
  }
  packet.cxl->poison = !transaction.is_response_ok();
  memory_errors_ += transaction.is_response_ok() ? 0 : 1;
  done_.add(transaction.packet, when);
  wakeup_.at(when);
}

void CxlHome::work() {
  wakeup_.taken();
  inward_ = Time{};
  while (done_.is_due(now())) {
    memory_at_ = done_.next();
    const PacketRef packet = done_.take();
    --in_memory_;
    counts_ = packet->counts;
    if (packet->cxl->has_data()) {
      rules_.memory_written(packet->request, out_);
    } else {
      rules_.memory_read(packet->request, line_with(*packet), out_, packet->cxl->poison);
    }
    send_all();
  }
  go_on_with_recalls();
  wakeup_.at(done_.next());
}

void CxlHome::link_lost(std::uint8_t port) {
  ports_[port]->is_down = true;
  ports_[port]->to_link.clear();
  ports_[port]->lines_received = 0;
  inward_ = Time{};
  for (Check& check : checks_) {
    if (check.arrival != kNoArrival && check.port == port) {
      check.packet.reset();
    }
  }
  rules_.port_lost(port, out_);
  send_all();
  go_on_with_recalls();
}

void CxlHome::Port::start_window() {
  to_link.start_window(now());
  work_waits.start_window(now());
}

std::vector<WaitResult> CxlHome::Port::waits() const {
  return {
      work_waits.result({place, "home_requests", ResourceRole::kSlots, "up", "", "", most_at_work}),
      to_link.waits(place, "down")};
}

bool CxlHome::is_quiet() const {
  return rules_.outstanding() == 0 && in_memory_ == 0 && checks_.open_count() == 0 &&
         all_of(ports_, [](const std::unique_ptr<Port>& port) { return port->to_link.empty(); });
}

std::string CxlHome::waiting() const {
  return is_quiet() ? ""
                    : fmt::format(
                          "{}: {} CXL.cache requests at work, {} wait for permissions, {} snoops "
                          "and pulls out, {} lines at memory\n",
                          name(), rules_.outstanding(), checks_.open_count(), rules_.uqids_out(),
                          in_memory_);
}

std::map<std::string, std::uint64_t> CxlHome::errors() const {
  Counts all = refusals_;
  all["unexpected_cxl_message"] = rules_.bad_messages().total();
  all["cxl_home_without_memory"] = memory_errors_;
  return all;
}

}  // namespace flitwise
