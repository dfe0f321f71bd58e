// SPDX-License-Identifier: Apache-2.0
/// What the parts of a device ask of the device as a whole: one small interface for each direction,
/// so that each can be tested with stand-ins. What they ask of each other: request_seams.h.
#pragma once

#include <cstdint>
#include <optional>

#include "config_space/capabilities.h"
#include "config_space/capability.h"
#include "config_space/registers.h"
#include "dhi/device_handle_table.h"
#include "dhi/negotiation.h"
#include "flitwise/config.h"
#include "flitwise/packet.h"
#include "flitwise/time.h"
#include "tlp/identity.h"

namespace flitwise {

/// What a device takes from a configuration.
struct EndpointConfig {
  DeviceConfig device;
  LinkConfig link;
  MessageConfig message;
  FaultsConfig faults;
  At at = At::kUntranslated;
  std::uint32_t domains = 1;  ///< of the workload
  bool real_payload = true;   ///< writes carry bytes
  std::uint64_t buffer_base = 0;
  bool has_switch = false;      ///< between device and root port
  bool stops_contexts = false;  ///< software does, while others go on
  bool uses_handles = false;    ///< of its own accord, where the host lets it
  std::uint64_t seed = 1;
  const char* handles_key = "device.dhi.bits";  ///< what bounds its handles [DHI D2]

  static EndpointConfig of(const Config& config);
  IdentityForm form() const { return {link.identity, link.dhi_form, device.dhi.bits}; }
};

/// What the shell has sent and got back since the start of the run. Unit: bytes.
struct EndpointCounters {
  std::uint64_t posted_bytes = 0;  ///< of MWr, sent or waiting to be
  std::uint64_t asked_bytes = 0;   ///< of reads; a zero-length one asks for one byte
  std::uint64_t delivered_bytes = 0, failed_bytes = 0;
  std::uint64_t settled = 0;  ///< TLPs of engines: writes on their way, reads that are over
};

/// What software has set for the requests of all functions. [LNK-9.8]
struct RequestControl {
  std::uint32_t mps = 0, mrrs = 0;
  bool relaxed_ordering = false, id_based_ordering = false, no_snoop = false;
};

/// The way to the link, and the clock of the device. Implemented by FunctionShell.
class DeviceOutput {
 public:
  /// It leaves when it is ready, behind all that was sent before. posted_pin: of its handle, if it
  /// is a posted use of one.
  virtual void send(PacketRef packet, Time ready, HandlePin posted_pin) = 0;
  /// The link has refused a TLP of the class, and has not said since that there is room.
  virtual bool is_full(FcClass fc) const = 0;
  /// The next TLP is ready, and of this class; false: it waits for the link, which is counted.
  virtual bool may_leave(FcClass fc, Time now) = 0;
  /// All parts are asked for work at the first edge of the device's clock at or after `when`.
  virtual void wake_at(Time when) = 0;
  /// TransferPath::end_due() at that very moment; an earlier one that was asked for stands.
  virtual void end_at(Time when) = 0;
  /// An engine has heard of an end, and may have work again.
  virtual void ask_engines() = 0;
  /// DeviceTarget::do_duties() after all that can be sent, until it says that there are none.
  virtual void begin_duties() = 0;

 protected:
  ~DeviceOutput() = default;
};

/// What comes to the device unasked, and what goes on beside its traffic. Implemented by Endpoint.
class DeviceTarget {
 public:
  /// A request or a message from the link.
  virtual void receive(Packet& packet, Time now) = 0;
  /// Requests of software that are due.
  virtual void serve(Time now) = 0;
  virtual void link_has_room(Time now) = 0;
  /// Resets, contexts that end, handles that are given up; false: all of it is done.
  virtual bool do_duties(Time now) = 0;
  /// When any of this is to be done again, beside what wakes the device anyway.
  virtual Time next_duty(Time now) const = 0;

 protected:
  ~DeviceTarget() = default;
};

/// Where software and the counters of a run hear of errors. Implemented by Endpoint.
class DeviceEvents {
 public:
  /// Counted by kind.
  virtual void refuse(const Packet& packet, const char* kind) = 0;  ///< because of the packet
  virtual void count(const char* kind) = 0;
  /// Booked at a function (of one that is not there, at the PF) and counted by kind. [LNK-9.19]
  virtual void report(unsigned function, const char* kind, cfg::aer::Uncorrectable error,
                      const Packet& packet, Time now) = 0;
  /// A request of the function has had no answer in time. [LNK-12.10]
  virtual void timed_out(unsigned function, Time now) = 0;
  /// A message that a part of the device has taken.
  virtual void took_message(const Packet& packet) = 0;

 protected:
  ~DeviceEvents() = default;
};

/// What software's accesses to configuration space change outside of it. Implemented by Endpoint.
class SoftwareEffects {
 public:
  virtual void numbered(std::uint8_t bus) = 0;  ///< the device has its bus number
  virtual void command_written(unsigned function) = 0;
  virtual void controlled(const DeviceControl& control) = 0;
  virtual void ecrc_controlled(const EcrcControl& control) = 0;
  virtual void negotiated(const Negotiated& outcome, bool is_software_managed) = 0;
  virtual void function_level_reset(unsigned function) = 0;
  virtual bool is_in_reset(unsigned function) const = 0;
  virtual void translation_written(unsigned function) = 0;  ///< as ATS, PASID, PRI; 0: of all
  virtual void interrupts_written() = 0;                    ///< MSI-X is enabled, or masked

 protected:
  ~SoftwareEffects() = default;
};

/// What a reset is of. Implemented by Endpoint.
class ResetScope {
 public:
  virtual bool is_clear() const = 0;                   ///< nothing of the device is under way
  virtual bool is_clear(unsigned function) const = 0;  ///< nor of this function
  virtual bool has_unsent(DomainId domain) const = 0;
  virtual void forget(unsigned function, ResetKind kind) = 0;
  /// Whose context software wants stopped, until it is.
  virtual std::optional<DeviceIdentity> context_to_stop() const = 0;
  /// Nothing of it is under way any more; nullopt: the device has none like it.
  virtual void context_stopped(std::optional<DomainId> domain, Time now) = 0;

 protected:
  ~ResetScope() = default;
};

}  // namespace flitwise
