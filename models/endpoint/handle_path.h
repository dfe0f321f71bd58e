// SPDX-License-Identifier: Apache-2.0
/// Handles of a device in its stream of packets: what has to go out before a TLP that uses one,
/// what comes back for it, and what software and the host order. The table: DhiAgent.
#pragma once

#include <cstdint>
#include <vector>

#include "common/packet_sizer.h"
#include "endpoint/device_functions.h"
#include "endpoint/dhi_agent.h"
#include "endpoint/request_seams.h"
#include "stats/wait_book.h"
#include "tlp/identity.h"

namespace flitwise {

class HandlePath final : public Handles {
 public:
  struct Surroundings {
    PacketPool& pool;
    const PacketSizer& sizer;
    const DeviceFunctions& functions;
    DeviceOutput& output;
    TagTable& requests;
    DeviceEvents& events;
  };
  HandlePath(const EndpointConfig& config, const Surroundings& surroundings);

  DhiAgent& agent() { return agent_; }
  const DhiAgent& agent() const { return agent_; }

  DhiAgent::Answer acquire(const Transfer& transfer, const DeviceIdentity& identity, Op op,
                           std::size_t free_tags, Time now) override;
  bool are_active() const override { return agent_.is_active(); }
  void posted_sent(HandlePin pin) override { agent_.posted_sent(pin); }
  std::uint64_t posted_serial() const override { return agent_.posted_serial(); }
  void request_ended(const OutstandingRequest& request, TransferStatus status) override;
  void let_go(const OutstandingRequest& request, bool is_given_up) override;
  void end_context(DomainId domain) override;

  /// A handle message from the host. Returns nullptr, or why it changes nothing.
  const char* receive(const Packet& packet);
  /// Software's ALLOC, as if the message had come from the link. [DHI D12]
  HandleStatus install(const AllocMessage& message);
  /// Likewise its DEALLOC; drain() says when it is done. [DHI D15]
  void deallocate(const DeallocMessage& message);
  /// Software has stopped the context: a handle that the device manages goes with it. [DHI D12]
  void context_stopped(DomainId domain);
  /// The contexts of domains 0 .. count-1 start before their first message. [DHI D13]
  void start_contexts(std::uint32_t count, bool counts, Time now);

  /// Handles are given up by software's or the host's order, or with a context.
  bool is_draining() const { return is_draining_; }
  /// Gives up those that are not in use any more; a flush finds out. True: software's DEALLOC is
  /// done. [DHI D10]
  bool drain(Time now);

  void start_window(Time now);
  /// In the window: TLPs that waited for a handle, and how long.
  StallCount stall(Time now) const { return stall_.so_far(now) - window_stall_; }
  DhiResult result(const std::string& device, Time now) const;

 private:
  void send_first(const Transfer& cause, const DeviceIdentity& identity, Time now, Time latency);
  void note_draining();

  const EndpointConfig config_;
  Surroundings s_;
  DhiAgent agent_;
  std::vector<PacketRef> first_;      // scratch: what goes out before the present TLP
  bool is_draining_ = false;          // as of the last event that can begin it
  bool has_dealloc_command_ = false;  // in the handle registers
  StallClock stall_;
  StallCount window_stall_;
};

}  // namespace flitwise
