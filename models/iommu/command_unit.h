// SPDX-License-Identifier: Apache-2.0
/// Software's side of the agent: what writes to its registers set off, and the queue of
/// invalidation commands. Rules: src/iommu/registers.h, src/iommu/agent_queues.h.
#pragma once

#include <array>
#include <cstdint>
#include <string>

#include "flitwise/config.h"
#include "flitwise/result.h"
#include "iommu/agent_queues.h"
#include "iommu/agent_seams.h"
#include "iommu/device_orders.h"
#include "iommu/registers.h"

namespace flitwise {

class PageRequests;

class CommandUnit {
 public:
  struct Neighbours {
    IommuRegisters& registers;
    AgentTranslations& translations;
    const PageRequests& page_requests;  ///< a wait may ask for their end
    AgentMemory& memory;
    AgentEvents& events;
    IommuResult& counts;  ///< of the agent
  };
  /// offers and the neighbours outlive it.
  CommandUnit(const IommuConfig& config, const IommuCapabilities& offers, Neighbours all);

  /// Whose handles commands free.
  void reach_handles(HandleTables& tables) { devices_.reach_handles(tables); }

  /// Software has written to the registers. [IOM-1.1]
  void apply(const RegisterEffects& effects);
  /// The access with agent_tag::kCommands is done. bytes: null where memory has refused it.
  void memory_done(const std::uint8_t* bytes, Time when);
  /// A device has answered.
  void completed(const InvalidateCompletion& completion, Time now) {
    answered(completion.function, devices_.complete(completion, now), now);
  }
  void completed(Bdf function, const DeallocDone& done, Time now) {
    answered(function, devices_.complete(function, done), now);
  }
  /// An Invalidate Request may have been taken for another domain. [DHI D21]
  void strayed(Bdf function, std::uint8_t itag, Time now) {
    devices_.strayed(function, itag, now);
    all_.events.wake_at(devices_.next_timeout());
  }
  /// A command in registers, or a wait, ends once nothing uses what was invalidated before it.
  /// [IOM-1.8] [IQU-04] [IQU-06]
  void settle();

  /// The step that is due, and devices that have not answered in time.
  void work(Time now);
  void expire(Time now);
  Time next_due() const { return due_; }  ///< never: none
  /// When it gives up waiting for devices; never where it does not wait.
  Time next_timeout() const { return devices_.next_timeout(); }

  /// Answers of devices so far.
  std::uint64_t answers() const { return answers_; }
  bool is_quiet() const {
    return step_ == Step::kNone && !queue_.is_waiting() && devices_.is_quiet();
  }
  std::string waiting(const char* at) const;

 private:
  /// What the queue is at: each takes its time.
  enum class Step : std::uint8_t { kNone, kFetch, kExecute, kWriteStatus };

  void answered(Bdf function, DeviceOrders::Answer answer, Time now);
  void do_at(Step step, Time when);
  void fetch();
  void take_descriptor(Time now);
  void carry_out(const InvalidationDescriptor& command, Time now);
  void sent_to_device(Time now);
  void send_held(Time now);
  void finish_register_commands();
  void finish_wait();

  const Time execution_;  // of one descriptor
  const IommuCapabilities& offers_;
  const Neighbours all_;
  InvalidationQueue queue_;
  DeviceOrders devices_;
  Step step_ = Step::kNone;
  Time due_ = Time::never();
  bool has_failed_ = false;                                       // the access of the step
  bool is_leaving_ = false;                                       // software has turned it off
  bool has_context_command_ = false, has_iotlb_command_ = false;  // in registers, not done yet
  unsigned asked_bytes_ = 0;
  std::array<std::uint8_t, 32> descriptor_{};
  std::uint64_t answers_ = 0;
};

}  // namespace flitwise
