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

DeviceCacheConfig rules_for(const CxlCacheConfig& cache, std::uint8_t cache_id) {
  DeviceCacheConfig rules;
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
                               std::uint8_t cache_id, PacketPool& pool, LatencyTracer& tracer,
                               LineStateListener* listener)
    : LineAgent(
          name, config.timing.clock, pool,
          LineCore(pool, tracer, read_of(config.cxl.cache.read), write_of(config.cxl.cache.write)),
          "up", "device.cxl.cache.requests", config.cxl.cache.requests, "device.cxl.cache.size"),
      config_(config),
      rules_(rules_for(config.cxl.cache, cache_id), listener) {}

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
  core_.finish(results_, now() + cache().lookup, true);
}

void CxlCacheDevice::link_lost(std::uint64_t lines_received) {
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
  rules_.receive(static_cast<std::uint8_t>(port), *packet.cxl, line_with(packet), out_);
  send_all();
  return tlm::TLM_COMPLETED;
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
  wakeup_.at(done_.next());
}

void CxlHome::link_lost(std::uint8_t port) {
  ports_[port]->is_down = true;
  ports_[port]->to_link.clear();
  ports_[port]->lines_received = 0;
  inward_ = Time{};
  rules_.port_lost(port, out_);
  send_all();
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
  return rules_.outstanding() == 0 && in_memory_ == 0 &&
         all_of(ports_, [](const std::unique_ptr<Port>& port) { return port->to_link.empty(); });
}

std::string CxlHome::waiting() const {
  return is_quiet() ? ""
                    : fmt::format(
                          "{}: {} CXL.cache requests at work, {} snoops and pulls out, {} lines at "
                          "memory\n",
                          name(), rules_.outstanding(), rules_.uqids_out(), in_memory_);
}

std::map<std::string, std::uint64_t> CxlHome::errors() const {
  return {{"unexpected_cxl_message", rules_.bad_messages().total()},
          {"cxl_home_without_memory", memory_errors_}};
}

}  // namespace flitwise
