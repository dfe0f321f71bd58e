// SPDX-License-Identifier: Apache-2.0
// Accesses to a memory that does not take a request at once (base protocol, four phases).
#include "memory/memory_port.h"

#include <gtest/gtest.h>
#include <tlm_utils/simple_target_socket.h>

#include <array>
#include <cstring>
#include <deque>
#include <vector>

#include "flitwise/link_socket.h"

namespace flitwise::memory_port_test {
namespace {

/// Takes each request 30 ns after it has come, and answers it then.
class SlowMemory : public sc_core::sc_module {
 public:
  SC_HAS_PROCESS(SlowMemory);
  explicit SlowMemory(const sc_core::sc_module_name& name) : sc_module(name) {
    socket.register_nb_transport_fw(this, &SlowMemory::request);
    SC_METHOD(take);
    sensitive << due_;
    dont_initialize();
  }
  tlm_utils::simple_target_socket<SlowMemory> socket{"socket"};
  std::vector<Time> arrivals;  ///< of requests, with the delay of each

 private:
  tlm::tlm_sync_enum request(tlm::tlm_generic_payload& payload, tlm::tlm_phase& phase,
                             sc_core::sc_time& delay) {
    EXPECT_EQ(phase, tlm::BEGIN_REQ);
    EXPECT_EQ(open_, nullptr) << "one request phase at a time";
    open_ = &payload;
    arrivals.push_back(now() + Time{static_cast<std::int64_t>(delay.value())});
    due_.notify(delay + sc_core::sc_time(30, sc_core::SC_NS));
    return tlm::TLM_ACCEPTED;
  }
  void take() {
    tlm::tlm_generic_payload& payload = *open_;
    open_ = nullptr;
    payload.set_response_status(tlm::TLM_OK_RESPONSE);
    tlm::tlm_phase phase = tlm::BEGIN_RESP;
    sc_core::sc_time delay = sc_core::SC_ZERO_TIME;
    socket->nb_transport_bw(payload, phase, delay);
  }

  sc_core::sc_event due_;
  tlm::tlm_generic_payload* open_ = nullptr;
};

class Client : public MemoryClient {
 public:
  void memory_done(const MemoryTransaction& /*transaction*/, Time /*when*/) override { ++done; }
  unsigned done = 0;
};

/// As SlowMemory, with bytes: each access takes effect when it is answered.
class SlowBytes : public sc_core::sc_module {
 public:
  SC_HAS_PROCESS(SlowBytes);
  explicit SlowBytes(const sc_core::sc_module_name& name) : sc_module(name) {
    socket.register_nb_transport_fw(this, &SlowBytes::request);
    SC_METHOD(answer);
    sensitive << due_;
    dont_initialize();
  }
  tlm_utils::simple_target_socket<SlowBytes> socket{"socket"};
  std::array<std::uint8_t, 64> bytes{};
  std::vector<tlm::tlm_command> commands;
  bool ends_requests_at_once = false;

 private:
  tlm::tlm_sync_enum request(tlm::tlm_generic_payload& payload, tlm::tlm_phase& phase,
                             sc_core::sc_time& /*delay*/) {
    commands.push_back(payload.get_command());
    open_.push_back(&payload);
    due_.notify(sc_core::sc_time(30, sc_core::SC_NS));
    phase = ends_requests_at_once ? tlm::END_REQ : tlm::BEGIN_REQ;
    return ends_requests_at_once ? tlm::TLM_UPDATED : tlm::TLM_ACCEPTED;
  }
  void answer() {
    tlm::tlm_generic_payload& payload = *open_.front();
    open_.pop_front();
    std::uint8_t* const at = &bytes[payload.get_address()];
    payload.is_write() ? std::memcpy(at, payload.get_data_ptr(), payload.get_data_length())
                       : std::memcpy(payload.get_data_ptr(), at, payload.get_data_length());
    payload.set_response_status(tlm::TLM_OK_RESPONSE);
    if (!open_.empty()) {
      due_.notify(sc_core::sc_time(30, sc_core::SC_NS));
    }
    tlm::tlm_phase phase = tlm::BEGIN_RESP;
    sc_core::sc_time delay = sc_core::SC_ZERO_TIME;
    socket->nb_transport_bw(payload, phase, delay);
  }

  sc_core::sc_event due_;
  std::deque<tlm::tlm_generic_payload*> open_;
};

class Answers : public MemoryClient {
 public:
  void memory_done(const MemoryTransaction& transaction, Time when) override {
    old.push_back(transaction.data[0]);
    written.push_back(transaction.is_write());
    done = when;
  }
  void memory_took(const MemoryTransaction& /*transaction*/) override { ++took; }
  std::vector<unsigned> old;  ///< its lowest byte
  std::vector<bool> written;
  Time done{};
  unsigned took = 0;
};

/// Two FetchAdds and a CAS that compares unequal, at the same word and at once.
void add_twice_and_compare(MemoryPort& port, PacketPool& pool, Answers& answers) {
  for (const TlpType type : {TlpType::kFetchAdd, TlpType::kFetchAdd, TlpType::kCas}) {
    PacketRef atomic = pool.make(PacketKind::kTlp);
    atomic->tlp.type = type;
    atomic->tlp.address = 8;
    atomic->tlp.length_dw = type == TlpType::kCas ? 2 : 1;
    atomic->payload.assign(atomic->tlp.length_dw * 4U, 1);
    port.submit(answers, std::move(atomic), Time{});
  }
  sc_core::sc_start(1, sc_core::SC_US);
}

void expect_each_by_itself(bool ends_requests_at_once) {
  using tlm::TLM_READ_COMMAND;
  using tlm::TLM_WRITE_COMMAND;
  PacketPool pool;
  SlowBytes memory("memory");
  memory.ends_requests_at_once = ends_requests_at_once;
  MemoryPort port("port");
  Answers answers;
  port.socket.bind(memory.socket);
  sc_core::sc_start(sc_core::SC_ZERO_TIME);
  add_twice_and_compare(port, pool, answers);
  const std::vector<tlm::tlm_command> expected = {
      TLM_READ_COMMAND, TLM_WRITE_COMMAND, TLM_READ_COMMAND, TLM_WRITE_COMMAND, TLM_READ_COMMAND};
  EXPECT_EQ(memory.commands, expected);
  EXPECT_EQ(answers.old, (std::vector<unsigned>{0, 1, 2}));
  EXPECT_EQ(answers.written, (std::vector<bool>{true, true, false}));
  EXPECT_EQ(memory.bytes[8], 2);
  EXPECT_EQ(answers.done, Time::from_ns(150));
  EXPECT_EQ(answers.took, ends_requests_at_once ? 2U : 3U) << "of those that had to wait";
  EXPECT_TRUE(port.is_quiet());
}

TEST(MemoryPort, LNK_9_29_NothingComesBetweenTheReadAndTheWriteOfAnAtomic) {
  expect_each_by_itself(false);
}
TEST(MemoryPort, LNK_9_29_NorWhereTheMemoryTakesRequestsAtOnce) {
  expect_each_by_itself(true);
}

// Software finds what is written when it is done, a write behind another, and of one with gaps the
// bytes that are enabled. What it writes itself is there at once, until an older write is done.
TEST(MemoryPort, SoftwareSeesAWriteWhenItIsDone) {
  PacketPool pool;
  SlowBytes memory("memory");
  MemoryPort port("port");
  Answers answers;
  port.socket.bind(memory.socket);
  SeenWords& seen = port.watch(8, 16, 2);
  sc_core::sc_start(sc_core::SC_ZERO_TIME);
  for (const unsigned enables : {0xfU, 0x5U}) {
    PacketRef write = pool.make(PacketKind::kTlp);
    write->tlp.type = TlpType::kMWr;
    write->tlp.address = 24;
    write->tlp.length_dw = 1;
    write->tlp.first_be = static_cast<std::uint8_t>(enables);
    write->payload.assign(4, static_cast<std::uint8_t>(enables));
    port.submit(answers, std::move(write), Time{});
  }
  const auto seen_after = [&](int ns) {
    sc_core::sc_start(to_sc_time(Time::from_ns(ns)));
    return seen.look(24, now());
  };
  EXPECT_EQ(seen_after(29), 0U);
  const std::array<std::uint8_t, 8> seven = {7};  // ahead of writes that are not done
  seen.written(24, seven.data(), seven.size(), now(), now());
  EXPECT_EQ(seen_after(0), 7U);
  EXPECT_EQ(seen_after(2), 0x0f0f0f0fU);
  EXPECT_EQ(seen_after(30), 0x0f050f05U);
  EXPECT_EQ(seen.look(8, now()), 0U);
}
// Of a write over the edge of an area, those within count.
TEST(SeenWords, AWriteMayBeDoneLaterAndLieOutside) {
  std::array<std::uint8_t, 200> bytes{};
  bytes.fill(1);
  SeenWords seen(1000, 1 << 10, 2);
  seen.written(900, bytes.data(), bytes.size(), Time{}, Time::from_ns(80));
  constexpr std::uint64_t kOnes = 0x0101010101010101;
  EXPECT_EQ(seen.look(1000, Time::from_ns(79)), 0U);
  EXPECT_EQ(seen.look(1000, Time::from_ns(80)), kOnes);
  EXPECT_EQ(seen.look(1092, Time::from_ns(80)), kOnes);
  EXPECT_EQ(seen.look(1100, Time::from_ns(80)), 0U);
  EXPECT_EQ(seen.look(2024, Time::from_ns(80)), 0U);
  EXPECT_TRUE(seen.holds(1127));
  EXPECT_FALSE(seen.holds(1128));
  EXPECT_FALSE(seen.holds(999));
  EXPECT_FALSE(seen.holds(3048));
}

// A write that was done before software writes is behind it, even where nobody has looked
// meanwhile.
TEST(SeenWords, SoftwareWritesOverWhatWasDoneBefore) {
  SeenWords seen(1000, 1024, 1);
  const std::uint64_t ones = ~std::uint64_t{0};
  seen.written(1000, reinterpret_cast<const std::uint8_t*>(&ones), sizeof(ones), Time::from_ns(10),
               Time::from_ns(20));
  const std::uint64_t seven = 7;
  seen.written(1000, reinterpret_cast<const std::uint8_t*>(&seven), sizeof(seven),
               Time::from_ns(30), Time::from_ns(30));
  EXPECT_EQ(seen.look(1000, Time::from_ns(30)), 7U);
}

// A request reaches the memory `delay` after it was submitted, though it has to wait for another.
TEST(MemoryPort, ARequestThatHadToWaitComesNoEarlierThanItsDelay) {
  PacketPool pool;
  SlowMemory memory("memory");
  MemoryPort port("port");
  Client client;
  port.socket.bind(memory.socket);
  sc_core::sc_start(sc_core::SC_ZERO_TIME);
  for (const unsigned delay : {0U, 100U, 10U}) {
    PacketRef read = pool.make(PacketKind::kTlp);
    read->tlp.type = TlpType::kMRd;
    read->tlp.length_dw = 1;
    read->tlp.first_be = 0xf;
    port.submit(client, std::move(read), Time::from_ns(delay));
  }
  sc_core::sc_start(1, sc_core::SC_US);
  EXPECT_EQ(client.done, 3U);
  const std::vector<Time> expected = {Time{}, Time::from_ns(100), Time::from_ns(130)};
  EXPECT_EQ(memory.arrivals, expected);
  // The second was not there yet when the first had been taken, the third from 10 ns on.
  const std::vector<WaitResult> waits = port.waits();
  ASSERT_EQ(waits.size(), 1U);
  EXPECT_EQ(waits[0].count, 1U);
  EXPECT_EQ(waits[0].total, Time::from_ns(120));
}

}  // namespace
}  // namespace flitwise::memory_port_test
