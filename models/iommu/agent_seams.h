// SPDX-License-Identifier: Apache-2.0
/// What the parts of a translation agent ask of each other, of the agent as a whole, and of what it
/// reaches through the host bridge: one small interface for each direction, so that each part can
/// be tested with others in the place of its neighbours.
#pragma once

#include <cstdint>
#include <optional>
#include <utility>

#include "ats/ats_messages.h"
#include "dhi/handle_types.h"
#include "flitwise/packet.h"
#include "flitwise/time.h"
#include "iommu/fault_log.h"
#include "iommu/invalidation_descriptor.h"
#include "iommu/physical_pages.h"
#include "iommu/walk.h"

namespace flitwise {

/// Who asks the agent, as it sees them.
class TranslationClient {
 public:
  virtual ~TranslationClient() = default;
  /// The outcome for this ticket; it counts from `when` on, which is now or later.
  virtual void translated(std::uint64_t ticket, const WalkResult& result, Time when) = 0;

  /// Something has been invalidated: what was asked before may still be used in the old way.
  /// `pages`: whose permissions have been, of physical memory; none where translations alone have.
  virtual void invalidated(const PhysicalPages& /*pages*/) {}
  /// Nothing that was asked before the latest invalidation is left; TranslationService::drained()
  /// when that becomes true. [IQU-04]
  virtual bool is_drained() const { return true; }
};

/// Implemented by TranslationAgent.
class TranslationService {
 public:
  /// Does software have requests translated?
  virtual bool is_enabled() const = 0;
  /// Waits ask the client whether it is drained. It outlives the agent's last use.
  virtual void attach(TranslationClient& client) = 0;
  /// A client is.
  virtual void drained() = 0;
  /// A request that reaches the agent `delay` from now; the client hears of the outcome, perhaps
  /// within this call. token: of the packet, for fault events.
  virtual void translate(TranslationClient& client, std::uint64_t ticket,
                         const WalkRequest& request, std::uint32_t token, Time delay) = 0;

 protected:
  ~TranslationService() = default;
};

/// Who waits for memory: a walker by its number, or one of these.
namespace agent_tag {
inline constexpr std::uint16_t kCommands = 0xfffe, kPageRequests = 0xffff;
}

/// Host memory. Whoever has asked hears of the end by its memory_done(). Implemented by
/// TranslationAgent.
class AgentMemory {
 public:
  virtual void read(std::uint16_t tag, std::uint64_t address, unsigned bytes) = 0;
  /// `delay` from now.
  virtual void write(std::uint16_t tag, std::uint64_t address, const std::uint8_t* bytes,
                     unsigned count, Time delay) = 0;
  /// One little-endian word, at once; false: there is no memory.
  virtual bool set(std::uint64_t address, std::uint64_t value) = 0;

 protected:
  ~AgentMemory() = default;
};

/// What becomes known outside of the agent. Implemented by TranslationAgent.
class AgentEvents {
 public:
  /// Into the fault records. token: of the packet that met it.
  virtual void report(const FaultRecord& record, std::uint32_t token) = 0;
  virtual void interrupt(const std::optional<IommuInterrupt>& interrupt) = 0;
  /// The status of a wait is about to be written into memory. [IQU-04]
  virtual void status_is_coming() = 0;
  virtual PacketRef new_message() = 0;
  /// To the function that the message names, `delay` from now; it is lost where there is no way.
  virtual void send(PacketRef message, Time delay) = 0;
  /// Likewise. [IQU-13]
  void respond(const PrgResponse& response, Time delay) {
    PacketRef message = new_message();
    message->tlp = prg_response_tlp(response);
    send(std::move(message), delay);
  }
  /// The parts are asked for work at the first edge of the agent's clock at or after `when`.
  virtual void wake_at(Time when) = 0;
  /// Something is over that commands may wait for: CommandUnit::settle() follows.
  virtual void settle() = 0;

 protected:
  ~AgentEvents() = default;
};

/// Implemented by WalkerPool.
class AgentTranslations {
 public:
  /// A request that reaches the agent `delay` from now; the client hears of the outcome, perhaps
  /// within this call. token: of the packet, for fault events.
  virtual void translate(TranslationClient& client, std::uint64_t ticket,
                         const WalkRequest& request, std::uint32_t token, Time delay, Time now) = 0;
  /// Carries out an invalidation of cached translations or permissions. [IOM-5.1]
  virtual void invalidate(const InvalidationDescriptor& command) = 0;
  virtual void invalidate_all() = 0;
  /// Drops what the IOTLB has of the page. pasid: that of the request, or RID_PASID.
  /// [IOM-8.2] [PAS-01]
  virtual void forget_page(Bdf function, Pasid pasid, std::uint64_t page) = 0;
  /// Nothing uses what has been invalidated.
  virtual bool is_drained() const = 0;

 protected:
  ~AgentTranslations() = default;
};

/// Devices, through the host bridge.
class DeviceWay {
 public:
  virtual ~DeviceWay() = default;
  /// `delay` from now, to the function that it names; false: no device is there.
  virtual bool send_message(PacketRef packet, Time delay) = 0;
};

/// The host's handle tables, to free handles, and to send without them. [DHI D15] [DHI D21]
class HandleTables {
 public:
  virtual ~HandleTables() = default;

  struct Device {
    Bdf first;               ///< function
    std::uint8_t epoch = 0;  ///< of its handles
  };
  /// The device that has the function; none where the host has no handles for one.
  virtual std::optional<Device> device_of(Bdf function) const = 0;
  /// The device has answered: frees what it covers, or books the refusal. Returns what came of it.
  virtual HandleStatus answered(Bdf function, const DeallocMessage& message,
                                HandleStatus answer) = 0;
  /// The next Invalidate Request of this function and ITag names its domain in full.
  virtual void name_in_full(Bdf function, std::uint8_t itag) = 0;
};

}  // namespace flitwise
