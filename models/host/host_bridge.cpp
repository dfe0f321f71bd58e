// SPDX-License-Identifier: Apache-2.0
// Accesses of host software, as TLPs.
#include "host/host_bridge.h"

#include <fmt/format.h>

#include <utility>

#include "common/ranges.h"
#include "flitwise/error.h"

namespace flitwise {
namespace {

constexpr std::uint32_t kMaxWrite = 128;  // every device takes an MPS of that

}  // namespace

HostBridge::HostBridge(const sc_core::sc_module_name& name, const HostConfig& config,
                       PacketPool& pool, std::string software)
    : ComponentModule(name),
      software_(std::move(software)),
      mmio_(config.timing.mmio),
      pool_(pool),
      wakeup_("work", config.timing.clock),
      requests_(config, pool, *this, wakeup_, errors_) {
  wakeup_.wakes("work_process", [this] { work(); });
}

HostPort& HostBridge::attach(DownstreamPort& port, const LinkPreset& link, HostPort::Facts facts) {
  ports_.push_back(std::make_unique<HostPort>(around_, ports(), port, link, facts));
  around_.routes.emplace(RoutingTable::Kind::kRootComplex, ports());
  port.set_host(*ports_.back());
  return *ports_.back();
}

void HostBridge::attach(HostHandles& handles, const DownstreamPort& port) {
  handles.on_done([this](Bdf requester, const DeallocDone& done) {
    if (around_.agent != nullptr) {
      around_.agent->handles_given_up(requester, done);
    }
  });
  handles.on_strayed([this](Bdf function, std::uint8_t itag) {
    if (around_.agent != nullptr) {
      around_.agent->invalidation_strayed(function, itag);
    }
  });
  const auto above = find_if(ports_, [&](const auto& one) { return &one->wire == &port; });
  handles_.add(handles, (*above)->wire, (*above)->dvsec);
}

void HostBridge::attach(TranslationAgent& agent) {
  around_.agent = &agent;
  agent.reach_devices(*this);
  agent.reach_handles(handles_);
}

void HostBridge::after(Time delay, std::function<void()> what) {
  const Time when = now() + delay;
  agenda_.add(std::move(what), when);
  wakeup_.at(when);
}

void HostBridge::work() {
  wakeup_.taken();
  while (agenda_.is_due(now())) {
    const std::function<void()> what = agenda_.take();
    ++steps_;
    what();
  }
  requests_.check_timeouts();
  if (!agenda_.empty()) {
    wakeup_.at(agenda_.next());
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
  const Route route = around_.routes->route(tlp, kUpstreamPort);
  if (route.where == Where::kLocal) {
    HostPort& port = *ports_[route.port];
    after(mmio_, [&port, access] {
      if (access.write) {
        port.write(access);
      }
    });
    after(mmio_ * 2, [&port, access, done = std::move(done)] {
      done(HostAnswer::of(access.write ? 0 : port.space.read(access.offset), 4));
    });
    return;
  }
  if (route.where != Where::kDown) {
    requests_.refuse(std::move(done));
    return;
  }
  if (route.to_type0) {
    tlp = as_type0(tlp);
  }
  if (access.write) {
    packet->payload_bytes = 4;
    packet->payload.resize(4);
    boost::endian::store_little_u32(packet->payload.data(), access.value);
  }
  requests_.send({std::move(packet), ports_[route.port].get(), std::move(done)});
}

// The one that leads to the address or function; where there is none, that is counted.
HostPort* HostBridge::port_below(const Tlp& tlp) {
  const Route route = around_.routes->route(tlp, kUpstreamPort);
  if (route.where == Where::kDown) {
    return ports_[route.port].get();
  }
  ++errors_["master_abort"];
  return nullptr;
}

PacketRef HostBridge::memory_request(TlpType type, const RequestPiece& piece) const {
  PacketRef packet = pool_.make(PacketKind::kTlp);
  Tlp& tlp = packet->tlp;
  tlp.type = type;
  tlp.requester_id = kRootComplexId;
  piece.apply(tlp);
  return packet;
}

// Handle registers have four bytes, those of the agent four or eight.
void HostBridge::read(std::uint64_t address, unsigned bytes, Done done) {
  constexpr unsigned kMaxRead = HostRequestTable::kMaxRead;
  FLITWISE_CHECK(bytes >= 1 && address % kMaxRead + bytes <= kMaxRead,
                 "a read of the host crosses a 4 KiB boundary");
  if (is_own(address)) {
    after(mmio_ * 2, [this, address, width = bytes == 8 ? 8U : 4U, done = std::move(done)] {
      const auto offset = static_cast<std::uint32_t>(address % 4096);
      done(HostAnswer::of(
          is_agent(address) ? around_.agent->read_register(offset, width) : handles_.read(address),
          width));
    });
    return;
  }
  RequestPiece piece;
  RequestSplitter(address, bytes, kMaxRead).next(piece);
  PacketRef packet = memory_request(TlpType::kMRd, piece);
  packet->counts = false;
  HostPort* const port = port_below(packet->tlp);
  if (port == nullptr) {
    requests_.refuse(std::move(done));
    return;
  }
  requests_.send({std::move(packet), port, std::move(done)});
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
    HostPort* const port = port_below(packet->tlp);
    if (port == nullptr) {
      has_owner = false;
      continue;
    }
    packet->counts = counts;
    packet->payload_bytes = piece.bytes;
    packet->payload.assign(std::size_t{piece.length_dw} * 4, 0);
    const auto lead = static_cast<std::size_t>(__builtin_ctz(piece.first_be | 0x10U));
    std::copy_n(bytes + piece.offset, piece.bytes,
                packet->payload.begin() + static_cast<std::ptrdiff_t>(lead));
    port->wire.send(std::move(packet), mmio_);
  }
  return has_owner;
}

void HostBridge::write_own(std::uint64_t address, const std::vector<std::uint8_t>& bytes) {
  if (!is_agent(address)) {
    handles_.write(address, bytes);
    return;
  }
  around_.agent->write_register(
      static_cast<std::uint32_t>(address % 4096), static_cast<unsigned>(bytes.size()),
      little_endian(bytes.data(), std::min<std::size_t>(bytes.size(), 8)));
}

// False: no port has the bus of the function below it.
bool HostBridge::send_message(PacketRef packet, Time delay) {
  HostPort* const port = port_below(packet->tlp);
  if (port != nullptr) {
    port->wire.send(std::move(packet), delay);
  }
  return port != nullptr;
}

std::string HostBridge::waiting() const {
  return requests_.in_flight() == 0
             ? std::string()
             : fmt::format("{}: {} accesses of host software wait for completions\n", name(),
                           requests_.in_flight());
}

void HostBridge::count_repeats(Counts& counts) const {
  for (const auto& [kind, count] : errors_) {
    counts[software_ + ": " + kind] = count;
  }
  counts[software_ + ": accesses to devices"] = requests_.accesses();
}

}  // namespace flitwise
