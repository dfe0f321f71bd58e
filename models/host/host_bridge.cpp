// SPDX-License-Identifier: Apache-2.0
// Accesses of host software, as TLPs. The root ports' own registers are in host_bridge_ports.cpp.
#include "host/host_bridge.h"

#include <fmt/format.h>

#include <algorithm>

#include "flitwise/error.h"
#include "tlp/tlp_check.h"

namespace flitwise {
namespace {

constexpr std::uint32_t kMaxWrite = 128;  // every device takes an MPS of that
constexpr unsigned kMaxRead = 4096;

}  // namespace

std::uint32_t HostAnswer::value() const {
  if (data.size() < 4) {
    return 0xffff'ffff;
  }
  return data[0] | std::uint32_t{data[1]} << 8 | std::uint32_t{data[2]} << 16 |
         std::uint32_t{data[3]} << 24;
}

HostBridge::HostBridge(const sc_core::sc_module_name& name, const HostConfig& config,
                       PacketPool& pool)
    : sc_module(name),
      mmio_(config.timing.mmio),
      step_(config.timing.software_step),
      completion_timeout_(config.timing.completion_timeout),
      pool_(pool),
      wakeup_("work", config.timing.clock),
      outstanding_(256) {
  wakeup_.wakes("work_process", [this] { work(); });
}

void HostBridge::after(Time delay, std::function<void()> what) {
  const Time when = now() + delay;
  agenda_.emplace(when.fs, std::move(what));
  wakeup_.at(when);
}

void HostBridge::work() {
  wakeup_.taken();
  while (!agenda_.empty() && agenda_.begin()->first <= now().fs) {
    const std::function<void()> what = std::move(agenda_.begin()->second);
    agenda_.erase(agenda_.begin());
    ++steps_;
    what();
  }
  check_timeouts();
  if (!agenda_.empty()) {
    wakeup_.at(Time{agenda_.begin()->first});
  }
}

void HostBridge::config(const CfgAccess& access, Done done) {
  PacketRef packet = pool_.make(PacketKind::kTlp);
  packet->counts = false;
  Tlp& tlp = packet->tlp;
  tlp.type = access.write ? TlpType::kCfgWr1 : TlpType::kCfgRd1;
  tlp.requester_id = kRootComplexId;
  tlp.completer_id = access.target;
  tlp.register_offset = access.offset;
  tlp.length_dw = 1;
  tlp.first_be = access.byte_enables;
  const Route route = routes_->route(tlp, kUpstreamPort);
  if (route.where == Where::kLocal) {
    own_config(route.port, access, done);
    return;
  }
  if (route.where != Where::kDown) {
    refuse(done);
    return;
  }
  if (route.to_type0) {
    tlp = as_type0(tlp);
  }
  if (access.write) {
    packet->payload_bytes = 4;
    for (unsigned byte = 0; byte < 4; ++byte) {
      packet->payload.push_back(static_cast<std::uint8_t>(access.value >> 8 * byte));
    }
  }
  send_nonposted({std::move(packet), route.port, std::move(done)});
}

// A request for an address without an owner ends here.
void HostBridge::refuse(const Done& done) {
  after(mmio_ * 2, [done] {
    HostAnswer answer;
    answer.status = CplStatus::kUR;
    done(answer);
  });
}

PacketRef HostBridge::memory_request(TlpType type, const RequestPiece& piece) const {
  PacketRef packet = pool_.make(PacketKind::kTlp);
  Tlp& tlp = packet->tlp;
  tlp.type = type;
  tlp.requester_id = kRootComplexId;
  tlp.address = piece.address;
  tlp.is_4dw = piece.address >> 32 != 0;
  tlp.length_dw = piece.length_dw;
  tlp.first_be = piece.first_be;
  tlp.last_be = piece.last_be;
  return packet;
}

void HostBridge::read(std::uint64_t address, unsigned bytes, Done done) {
  FLITWISE_CHECK(bytes >= 1 && address % kMaxRead + bytes <= kMaxRead,
                 "a read of the host crosses a 4 KiB boundary");
  if (is_own(address)) {
    const unsigned width = bytes == 8 ? 8 : 4;
    after(mmio_ * 2, [this, address, width, done] {
      const std::uint64_t value = read_own(address, width);
      HostAnswer answer;
      for (unsigned byte = 0; byte < width; ++byte) {
        answer.data.push_back(static_cast<std::uint8_t>(value >> 8 * byte));
      }
      done(answer);
    });
    return;
  }
  RequestPiece piece;
  RequestSplitter(address, bytes, kMaxRead).next(piece);
  PacketRef packet = memory_request(TlpType::kMRd, piece);
  packet->counts = false;
  const Route route = routes_->route(packet->tlp, kUpstreamPort);
  if (route.where != Where::kDown) {
    ++errors_["master_abort"];
    refuse(done);
    return;
  }
  send_nonposted({std::move(packet), route.port, std::move(done)});
}

bool HostBridge::write(std::uint64_t address, const std::uint8_t* bytes, std::size_t size,
                       bool counts) {
  if (is_own(address)) {
    after(mmio_, [this, address, data = std::vector<std::uint8_t>(bytes, bytes + size)] {
      write_own(address, data);
    });
    return true;
  }
  RequestSplitter splitter(address, size, kMaxWrite);
  RequestPiece piece;
  bool has_owner = true;
  while (splitter.next(piece)) {
    PacketRef packet = memory_request(TlpType::kMWr, piece);
    const Route route = routes_->route(packet->tlp, kUpstreamPort);
    if (route.where != Where::kDown) {
      ++errors_["master_abort"];
      has_owner = false;
      continue;
    }
    packet->counts = counts;
    packet->payload_bytes = piece.bytes;
    packet->payload.assign(std::size_t{piece.length_dw} * 4, 0);
    const auto lead = static_cast<std::size_t>(__builtin_ctz(piece.first_be | 0x10U));
    std::copy(bytes + piece.offset, bytes + piece.offset + piece.bytes,
              packet->payload.begin() + static_cast<std::ptrdiff_t>(lead));
    ports_[route.port]->port.send(std::move(packet), mmio_);
  }
  return has_owner;
}

void HostBridge::send_nonposted(Request request) {
  if (ports_[request.port]->link_state != LinkState::kUp) {
    ++errors_["link_down"];  // [LNK-10.5]
    refuse(request.done);
    return;
  }
  if (!tags_.has_free()) {
    request.since = now();
    waiting_.push_back(std::move(request));
    return;
  }
  const std::uint16_t tag = tags_.take();
  request.packet->tlp.tag = tag;
  Outstanding& out = outstanding_[tag];
  out.reassembly = Reassembly(request.packet->tlp, kMaxRead);
  out.answer = HostAnswer();
  out.serial = ++last_serial_;
  ++in_flight_;
  const Time deadline = now() + completion_timeout_;
  deadlines_.push_back({deadline, tag, out.serial});
  wakeup_.at(deadlines_.front().when);
  DownstreamPort& port = ports_[request.port]->port;
  PacketRef packet = request.packet;
  out.request = std::move(request);
  port.send(std::move(packet), mmio_);
}

// False: no request waits for it that went out by this port.
bool HostBridge::completed(unsigned port, const PacketRef& packet, Time when) {
  const Tlp& tlp = packet->tlp;
  if (tlp.tag >= outstanding_.size() || outstanding_[tlp.tag].serial == 0 ||
      tlp.requester_id != kRootComplexId || outstanding_[tlp.tag].request.port != port) {
    return false;
  }
  Outstanding& out = outstanding_[tlp.tag];
  const CompletionFit fit = out.reassembly.check(tlp);
  if (!fits(fit)) {
    return false;
  }
  out.answer.status = tlp.status;
  if (fit == CompletionFit::kPartial || fit == CompletionFit::kLast) {
    const bool has_bytes = !packet->payload.empty();
    const auto lead = static_cast<std::ptrdiff_t>(tlp.lower_address % 4);
    const auto count = static_cast<std::ptrdiff_t>(out.reassembly.bytes_in(tlp));
    if (has_bytes && tlp.type == TlpType::kCplD &&
        packet->payload.size() >= static_cast<std::size_t>(lead + count)) {
      out.answer.data.insert(out.answer.data.end(), packet->payload.begin() + lead,
                             packet->payload.begin() + lead + count);
    }
    out.reassembly.accept(tlp);
    out.answer.is_poisoned |= has_poisoned_data(tlp);
  }
  if (fit != CompletionFit::kPartial) {
    if (out.answer.is_poisoned) {
      out.answer.data.clear();
    }
    finish(tlp.tag, when - now() + mmio_);
  }
  return true;
}

// The answer reaches software `delay` from now; a configuration request that was put off is
// repeated.
void HostBridge::finish(std::uint16_t tag, Time delay) {
  Outstanding& out = outstanding_[tag];
  HostAnswer answer = std::move(out.answer);
  Request request = std::move(out.request);
  out.request = Request();
  out.serial = 0;
  tags_.give(tag);
  --in_flight_;
  if (answer.status == CplStatus::kRRS && is_configuration(request.packet->tlp.type)) {
    after(delay + step_, [this, request] {
      PacketRef again = pool_.make(PacketKind::kTlp);
      again->counts = false;
      again->tlp = request.packet->tlp;
      again->payload = request.packet->payload;
      again->payload_bytes = request.packet->payload_bytes;
      send_nonposted({std::move(again), request.port, request.done});
    });
  } else {
    after(delay, [done = std::move(request.done), answer = std::move(answer)] { done(answer); });
  }
  while (!waiting_.empty() && tags_.has_free()) {
    Request next = std::move(waiting_.front());
    waiting_.pop_front();
    tag_waits_.add(next.since, now());
    send_nonposted(std::move(next));
  }
}

// The link below the port has gone down: no answer will come. [LNK-10.5]
void HostBridge::refuse_requests_of(unsigned port) {
  for (std::size_t tag = 0; tag < outstanding_.size(); ++tag) {
    Outstanding& out = outstanding_[tag];
    if (out.serial != 0 && out.request.port == port) {
      ++errors_["link_down"];
      out.answer = HostAnswer();
      out.answer.status = CplStatus::kUR;
      finish(static_cast<std::uint16_t>(tag), mmio_);
    }
  }
}

// [LNK-9.18]
void HostBridge::check_timeouts() {
  while (!deadlines_.empty()) {
    const Deadline first = deadlines_.front();
    if (outstanding_[first.tag].serial == first.serial) {
      if (first.when > now()) {
        wakeup_.at(first.when);
        return;
      }
      ++errors_["completion_timeout"];
      ports_[outstanding_[first.tag].request.port]->report(
          FoundError{cfg::aer::Uncorrectable::kCompletionTimeout});
      outstanding_[first.tag].answer = HostAnswer();
      outstanding_[first.tag].answer.is_timeout = true;
      finish(first.tag, mmio_);
    }
    deadlines_.pop_front();
  }
}

std::string HostBridge::waiting() const {
  return in_flight_ == 0 ? std::string()
                         : fmt::format("{}: {} accesses of host software wait for completions\n",
                                       name(), in_flight_);
}

}  // namespace flitwise
