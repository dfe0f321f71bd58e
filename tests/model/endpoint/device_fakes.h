// SPDX-License-Identifier: Apache-2.0
/// Stand-ins for the neighbours of a part of a device: they note what they are told, and answer
/// what the test has set.
#pragma once

#include <cstring>
#include <deque>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "endpoint/device_functions.h"
#include "endpoint/request_seams.h"
#include "flitwise/link_socket.h"

namespace flitwise::test {

/// A device of some functions without PASIDs at 1:0.0, all of which may send; domain i is function
/// i.
inline DeviceConfig device_of(unsigned functions) {
  DeviceConfig device;
  device.functions.count = functions;
  device.functions.has_pasid = false;
  return device;
}
struct RunningFunctions : DeviceFunctions {
  explicit RunningFunctions(const DeviceConfig& device)
      : DeviceFunctions(device, device.functions.count) {
    set_base(Bdf::of(1, 0, 0));
    set_bus_master(true);
    enable_vfs();
  }
};

/// The other end of the sockets of a device.
struct FakeLink : sc_core::sc_module {
  explicit FakeLink(const sc_core::sc_module_name& name) : sc_module(name) {
    from_port.register_nb_transport_fw(this, &FakeLink::take, 0);
    to_port.register_nb_transport_bw(this, &FakeLink::freed, 0);
  }
  tlm::tlm_sync_enum take(int /*id*/, Packet& packet, tlm::tlm_phase& /*phase*/,
                          sc_core::sc_time& delay) {
    return takes(packet, {static_cast<std::int64_t>(delay.value())}) ? tlm::TLM_COMPLETED
                                                                     : tlm::TLM_ACCEPTED;
  }
  tlm::tlm_sync_enum freed(int /*id*/, Packet& /*packet*/, tlm::tlm_phase& /*phase*/,
                           sc_core::sc_time& /*delay*/) {
    return tlm::TLM_COMPLETED;
  }
  void give(Packet& packet) {
    tlm::tlm_phase phase = tlm::BEGIN_REQ;
    sc_core::sc_time delay;
    to_port->nb_transport_fw(packet, phase, delay);
  }
  /// Of a packet that was not taken.
  void tell_room(Packet& packet) {
    tlm::tlm_phase phase = tlm::END_REQ;
    sc_core::sc_time delay;
    from_port->nb_transport_bw(packet, phase, delay);
  }

  LinkTarget<FakeLink> from_port{"from_port"};
  LinkInitiator<FakeLink> to_port{"to_port"};
  std::function<bool(const Packet&, Time delay)> takes;
};

struct FakeOutput final : DeviceOutput {
  struct Sent {
    PacketRef packet;
    Time ready;
    HandlePin pin;
  };
  void send(PacketRef packet, Time ready, HandlePin pin) override {
    sent.push_back({std::move(packet), ready, pin});
  }
  bool is_full(FcClass /*fc*/) const override { return full; }
  bool may_leave(FcClass /*fc*/, Time /*now*/) override { return !full; }
  void wake_at(Time when) override { wakes.push_back(when); }
  void end_at(Time when) override { ends.push_back(when); }
  void ask_engines() override {}
  void begin_duties() override { has_duties = true; }
  const Tlp& tlp(std::size_t index) const { return sent.at(index).packet->tlp; }

  std::vector<Sent> sent;
  std::vector<Time> wakes, ends;
  bool full = false, has_duties = false;
};

struct FakeEvents final : DeviceEvents {
  void report(unsigned function, const char* kind, cfg::aer::Uncorrectable /*error*/,
              const Packet& /*packet*/, Time /*now*/) override {
    reports.emplace_back(function, kind);
  }
  void timed_out(unsigned function, Time /*now*/) override { timeouts.push_back(function); }
  void refuse(const Packet& /*packet*/, const char* kind) override { counted.emplace_back(kind); }
  void count(const char* kind) override { counted.emplace_back(kind); }
  void took_message(const Packet& /*packet*/) override { ++messages; }

  std::vector<std::pair<unsigned, std::string>> reports;
  std::vector<unsigned> timeouts;
  std::vector<std::string> counted;
  unsigned messages = 0;
};

/// Gives out what the test has put in, and keeps what comes back.
struct FakeEngine final : Engine {
  bool next(Time now, Transfer& transfer) override {
    ++asked;
    asked_at = now;
    if (work.empty()) {
      return false;
    }
    transfer = work.front();
    work.pop_front();
    return true;
  }
  Time next_at() const override { return again > asked_at ? again : Time::never(); }
  void finished(const TransferEnd& end) override { ends.push_back(end); }
  void data(std::uint32_t /*token*/, std::uint64_t offset, const std::uint8_t* from,
            std::size_t size) override {
    bytes.resize(std::max<std::size_t>(bytes.size(), offset + size));
    std::memcpy(bytes.data() + offset, from, size);
  }
  bool is_done() const override { return work.empty(); }
  std::string waits_for() const override { return ""; }

  std::deque<Transfer> work;
  std::vector<TransferEnd> ends;
  std::vector<std::uint8_t> bytes;
  Time again = Time::never(), asked_at{};
  unsigned asked = 0;
};

struct FakeHandles final : Handles {
  Handles::Answer acquire(const Transfer& /*transfer*/, const DeviceIdentity& /*identity*/,
                          Op /*op*/, std::size_t /*free_tags*/, Time /*now*/) override {
    return answer;
  }
  bool is_active() const override { return active; }
  void posted_sent(HandlePin pin) override { posted.push_back(pin); }
  std::uint64_t posted_serial() const override { return serial; }
  void request_ended(const OutstandingRequest& request, TransferStatus status) override {
    ended.emplace_back(request.posted_serial, status);
  }
  void let_go(const OutstandingRequest& /*request*/, bool is_given_up) override {
    let_go_given_up.push_back(is_given_up);
  }
  void end_context(DomainId domain) override { ended_contexts.push_back(domain); }

  bool active = false;
  Handles::Answer answer;
  std::uint64_t serial = 0;
  std::vector<HandlePin> posted;
  std::vector<std::pair<std::uint64_t, TransferStatus>> ended;
  std::vector<bool> let_go_given_up;
  std::vector<DomainId> ended_contexts;
};

struct FakeTags final : TagTable {
  std::size_t free_tags(unsigned /*function*/) override { return free; }
  void open_read(Packet& packet, HandlePin /*pin*/, Time /*now*/) override {
    packet.tlp.tag = ++last_tag;
    reads.push_back(PacketRef(&packet));
  }
  void open_translation(unsigned /*function*/, const PacketRef& packet, HandlePin /*pin*/,
                        std::uint32_t slot, Time /*now*/) override {
    packet->tlp.tag = ++last_tag;
    OutstandingRequest request;
    request.request = packet;
    request.transfer = slot;
    translations.push_back(std::move(request));
  }
  void close_translation(unsigned /*function*/, std::uint16_t tag) override {
    closed.push_back(tag);
  }
  void fail(std::uint32_t transfer, TransferStatus status, Time /*now*/) override {
    failed.emplace_back(transfer, status);
  }

  std::size_t free = 32;
  std::uint16_t last_tag = 0;
  std::vector<PacketRef> reads;
  std::vector<OutstandingRequest> translations;
  std::vector<std::uint16_t> closed;
  std::vector<std::pair<std::uint32_t, TransferStatus>> failed;
};

}  // namespace flitwise::test
