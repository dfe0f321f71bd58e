// SPDX-License-Identifier: Apache-2.0
/// A device with an RDMA adapter, and the software of its host that posts work requests: here they
/// are joined to each other, to the way from the host to the device, and to host memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "endpoint/device_sender.h"
#include "endpoint/endpoint.h"
#include "host/host_bridge.h"
#include "memory/memory_port.h"
#include "rdma/control_vm.h"
#include "rdma/eps.h"
#include "rdma/hca.h"
#include "rdma/hostile_guest.h"
#include "rdma/rdma_guard.h"
#include "rdma/verbs_config.h"
#include "rdma/verbs_driver.h"
#include "root_complex/root_port.h"

namespace flitwise {

class RdmaSender final : public DeviceSender {
 public:
  /// Where it is put: all of it outlives the simulation.
  struct Site {
    std::string name;  ///< of the device
    Endpoint& endpoint;
    RootPort& port;
    HostBridge& bridge;
    MemoryPort& memory;
    std::size_t index;                ///< of the device, for these:
    std::vector<std::size_t> served;  ///< those that it asks and that ask nobody
    /// BAR 0 of a function, once it has one.
    const std::function<std::uint64_t(std::size_t, unsigned)>& bar;
    const std::function<void(std::size_t)>& counting_starts;  ///< with the next request
    const std::function<void()>& work_ended;
    /// Where in host memory the device's buffers begin, once tables are made.
    std::function<std::uint64_t()> buffers;
    struct Peer {
      MemoryPort& memory;
      std::function<std::uint64_t()> buffers;
    };
    std::vector<Peer> peers;  ///< in the order of the configuration
  };
  RdmaSender(const Site& site, const VerbsDriverConfig& config, const WorkloadConfig& workload,
             const DeviceConfig& device, const RunConfig& run);

  void start(Time now) override;
  std::size_t held_frames() const override { return hca_.held_frames(); }
  Hca& hca() { return hca_; }
  /// Its software takes messages of that one's, and the other way round.
  void compare_with(const RdmaSender& peer);
  /// Of each function but those of hostile guests, which are the last.
  const std::vector<std::unique_ptr<VerbsDriver>>& drivers() const { return drivers_; }
  const std::vector<std::unique_ptr<HostileGuest>>& guests() const { return guests_; }
  ControlVm* control() { return control_.get(); }
  /// Null: nobody tries to get by the rules.
  RdmaGuard* guard() { return guard_ ? &*guard_ : nullptr; }
  /// Null: no structure is translated ahead of use.
  Eps* eps() { return eps_ ? &*eps_ : nullptr; }

 private:
  void add_guest(const VerbsDriverConfig& config, std::uint64_t acts, const DeviceConfig& device,
                 Random random);
  void count();
  void command_shares();
  Time set_up_time(std::uint32_t place) const;
  void add_driver(const VerbsDriverConfig& config, const WorkloadConfig& workload,
                  const DeviceConfig& device, const RunConfig& run);
  std::uint64_t bar_of(std::uint32_t place) const {
    return site_.bar(site_.index, config_.hca.functions[place]);
  }
  VerbsDriver::Hooks hooks(std::uint32_t place);
  void store(std::uint32_t place, const std::uint8_t* bytes, std::size_t size);
  void write(std::uint32_t place, std::uint64_t offset, std::uint64_t word);
  void interrupt(const Packet& packet, Time when);
  static VerbsDriver::Memory memory_of(MemoryPort& memory, const std::uint64_t& shift);
  void add_eps();
  void connect_resets();
  void write_states(std::uint32_t place);
  void write_state(std::uint32_t pair);
  void begin(Time now);
  void came_up(std::uint32_t place, std::uint32_t epoch);
  ConfigSpace& space_of(std::uint32_t place) {
    return site_.endpoint.target().space(config_.hca.functions[place]);
  }
  void configure(std::uint32_t place, std::uint16_t offset, std::uint32_t value,
                 std::uint8_t enables, std::function<void()> done);
  void set_up_again(std::uint32_t place);
  void shut_down(std::uint32_t place, std::function<void()> done);
  void control(const AdapterCommand& command);
  std::vector<std::uint16_t> registers_of(std::uint32_t place);
  void write_registers(std::uint32_t place);

  /// What the hypervisor does with the function of a hostile guest.
  struct GuestFunction {
    std::uint32_t epoch = 0;
    bool is_being_set_up = false, is_shut_down = false;
  };

  const Site site_;
  const VerbsDriverConfig config_;
  const std::uint64_t warmup_;                  // requests
  std::vector<GuestFunction> guest_functions_;  // by place
  std::uint64_t shift_ = 0;                     // from addresses of the device to those of memory
  std::vector<std::uint64_t> peer_shifts_;      // likewise, of peers
  SeenWords* seen_ = nullptr;                   // entries of completion queues
  Hca hca_;
  std::optional<Eps> eps_;
  std::vector<std::unique_ptr<VerbsDriver>> drivers_;
  std::vector<std::unique_ptr<HostileGuest>> guests_;
  std::unique_ptr<ControlVm> control_;  // null: shares stay
  std::optional<RdmaGuard> guard_;
  std::uint64_t begun_ = 0;  // requests
};

}  // namespace flitwise
