// SPDX-License-Identifier: Apache-2.0
/// Stand-ins for what is around host software and its bridge: they note what they are told, and
/// answer what the test has set.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "host/host_access.h"
#include "root_complex/port_seams.h"

namespace flitwise::test {

/// Answers each access at once; run() does what software has put off, in the order of the calls.
struct FakeHostAccess final : HostAccess {
  struct Write {
    std::uint64_t address;
    std::vector<std::uint8_t> bytes;
  };
  void config(const CfgAccess& access, Done done) override {
    configured.push_back(access);
    answer(HostAnswer::of(0, 4), std::move(done));
  }
  void read(std::uint64_t address, unsigned bytes, Done done) override {
    reads.push_back(address);
    answer(HostAnswer::of(value_of ? value_of(address) : 0, bytes == 8 ? 8 : 4), std::move(done));
  }
  bool write(std::uint64_t address, const std::uint8_t* bytes, std::size_t size,
             bool /*counts*/) override {
    writes.push_back({address, {bytes, bytes + size}});
    return true;
  }
  void after(Time /*delay*/, std::function<void()> what) override {
    agenda.push_back(std::move(what));
  }
  void grant_handles(unsigned block, BusRange /*buses*/, HandleRange /*range*/) override {
    granted.push_back(block);
  }
  void run() {
    while (!agenda.empty()) {
      const auto what = std::move(agenda.front());
      agenda.pop_front();
      what();
    }
  }

  std::function<std::uint64_t(std::uint64_t address)> value_of;
  std::deque<std::function<void()>> agenda;
  std::vector<CfgAccess> configured;
  std::vector<std::uint64_t> reads;
  std::vector<Write> writes;
  std::vector<unsigned> granted;

 private:
  void answer(HostAnswer one, Done done) {
    agenda.push_back([done = std::move(done), one = std::move(one)] { done(one); });
  }
};

/// Keeps what goes down, for the test to answer.
struct FakeDownstreamPort final : DownstreamPort {
  void set_host(PortHost& one) override { host = &one; }
  void send(PacketRef packet, Time /*delay*/) override { sent.push_back(std::move(packet)); }
  void set_buses(BusRange range) override { below = range; }
  BusRange buses() const override { return below; }
  void set_bus_master(bool is_enabled) override { bus_master = is_enabled; }
  void set_ecrc(const EcrcControl& /*control*/) override {}

  PortHost* host = nullptr;
  BusRange below{0, 255};
  bool bus_master = false;
  std::vector<PacketRef> sent;
};

}  // namespace flitwise::test
