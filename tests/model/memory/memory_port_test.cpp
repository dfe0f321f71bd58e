// SPDX-License-Identifier: Apache-2.0
// Accesses to a memory that does not take a request at once (base protocol, four phases).
#include "memory/memory_port.h"

#include <gtest/gtest.h>
#include <tlm_utils/simple_target_socket.h>

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
