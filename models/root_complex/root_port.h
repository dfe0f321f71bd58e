// SPDX-License-Identifier: Apache-2.0
/// One root port: takes TLPs from its link, turns handles back into identities, lets requests into
/// host memory, and answers. Host software reaches the devices below through it.
#pragma once

#include <systemc>

#include <deque>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "common/outbox.h"
#include "common/packet_sizer.h"
#include "common/wakeup.h"
#include "flitwise/config.h"
#include "flitwise/link_socket.h"
#include "root_complex/host_handles.h"
#include "root_complex/memory_port.h"
#include "tlp/tlp_check.h"
#include "trace/latency_tracer.h"

namespace flitwise {

class RootPort : public sc_core::sc_module, private MemoryClient {
 public:
  LinkTarget<RootPort> from_link{"from_link"};
  LinkInitiator<RootPort> to_link{"to_link"};

  /// What goes on to the host beside memory accesses.
  struct HostHooks {
    std::function<void(const Packet&, Time)> interrupt;      ///< a write to the interrupt window
    std::function<void(const Packet&, Time)> message;        ///< a message other than a DHI message
    std::function<void(const PacketRef&, Time)> completion;  ///< for a request that the host sent
    std::function<void(const char* kind, const Packet&)> error;  ///< something was refused
  };

  RootPort(const sc_core::sc_module_name& name, const Config& config, PacketPool& pool,
           MemoryPort& memory, HostHandles& handles, LatencyTracer& tracer);

  /// A device below the port, and the host's end of its handles.
  struct DeviceBelow {
    BusRange buses;
    HostHandles* handles = nullptr;
    bool wants_alloc_ack = false;  ///< [DHI D8]
  };
  /// Until called, all that is below is one device. REQUIRES: not empty.
  void set_devices(std::vector<DeviceBelow> devices) { devices_ = std::move(devices); }

  void set_hooks(HostHooks hooks) { hooks_ = std::move(hooks); }
  /// Buses below the port, as software has set them.
  void set_buses(BusRange buses) { buses_ = buses; }
  BusRange buses() const { return buses_; }

  /// A request of the host to go down; its fields are complete, tag included.
  void send(PacketRef packet, Time delay);

  bool is_quiet() const {
    return in_memory_ == 0 && posted_.empty() && nonposted_.empty() && completions_.empty() &&
           held_.empty();
  }
  const std::map<std::string, std::uint64_t>& errors() const { return errors_; }
  std::string waiting() const;

 private:
  tlm::tlm_sync_enum receive(int id, Packet& packet, tlm::tlm_phase& phase,
                             sc_core::sc_time& delay);
  tlm::tlm_sync_enum link_has_room(int id, Packet& packet, tlm::tlm_phase& phase,
                                   sc_core::sc_time& delay);
  void receive_request(Packet& packet, Time now);
  bool resolve(Packet& packet, Time& latency);
  void to_memory(Packet& packet, Time delay);
  void memory_done(const MemoryTransaction& transaction, Time when) override;
  void memory_took(const MemoryTransaction& transaction) override;
  void hold_behind(Packet& packet, Time arrival);
  void release_buffers();
  void release(Packet& packet);
  void answer_read(const MemoryTransaction& transaction, Time when);
  void refuse(Packet& packet, CplStatus status, const char* kind, Time delay);
  void refuse_malformed(const Packet& packet, TlpViolation violation);
  PacketRef make_completion(const Packet& request) const;
  const DeviceBelow& device_of(Bdf requester) const;
  void queue_answers();
  void send(Outbox& outbox, PacketRef packet, Time ready);
  bool hand_over(const Outbox::Entry& entry);
  void count(const char* kind, const Packet& packet);
  bool is_interrupt(const Packet& packet) const;

  const Config config_;
  const IdentityForm form_;
  const bool handle_is_requester_id_;
  const TlpLimits limits_;
  const PacketSizer sizer_;
  PacketPool& pool_;
  MemoryPort& memory_;
  LatencyTracer& tracer_;
  HostHooks hooks_;
  BusRange buses_{0, 255};
  std::vector<DeviceBelow> devices_;
  Outbox posted_, nonposted_, completions_;
  Wakeup buffers_wakeup_;
  struct Held {
    PacketRef packet;
    Time until;
  };
  std::deque<Held> held_;      // receive buffers of requests that queue up before the memory
  bool holds_buffer_ = false;  // of the packet that is being received
  Time memory_done_at_{};      // of the access that was submitted last
  std::size_t in_memory_ = 0;  // accesses that wait for the memory's answer
  std::uint64_t completions_to_drop_;
  std::vector<PacketRef> answers_;  // scratch
  std::map<std::string, std::uint64_t> errors_;
};

}  // namespace flitwise
