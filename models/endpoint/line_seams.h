// SPDX-License-Identifier: Apache-2.0
/// What a cache for CXL.cache asks of the rest of its device: handles and addresses for its
/// requests.
#pragma once

#include <cstdint>
#include <functional>

#include "common/slot_list.h"
#include "endpoint/request_seams.h"

namespace flitwise {

/// Handles for requests of CXL.cache, whose messages go out by another way than the ALLOC.
/// Implemented by DhiAgent.
class LineNames {
 public:
  /// As Handles::acquire(), for one D2H Req; kHandle only once the host is known to have the
  /// handle, where device.dhi.alloc_order lets the device find out. [DHI D8] [CXL-7.8]
  virtual Handles::Answer acquire_for_line(const Transfer& transfer, Time now) = 0;
  /// The request has all its answers, or will have none. [DHI D10]
  virtual void line_over(HandlePin pin, Time now) = 0;
  virtual const DeviceIdentity& identity_of(DomainId domain) const = 0;
  virtual ContextId context_of(DomainId domain) const = 0;
  /// Called when it may be worth while to ask again, after kWait.
  virtual void on_change(std::function<void()> changed) = 0;

 protected:
  ~LineNames() = default;
};

/// Addresses of the host for requests of CXL.cache, where the device translates for itself.
/// Implemented by TranslatedPath.
class LineAddresses {
 public:
  enum class Outcome : std::uint8_t { kKnown, kWait, kFailed };
  struct Answer {
    Outcome outcome = Outcome::kKnown;
    std::uint64_t address = 0;  ///< of the line
    Time latency{};             ///< of the look-up
  };
  /// A request for the line by the translation, until it is answered.
  struct Use {
    unsigned function = 0;
    Slot slot = 0;
    std::uint32_t epoch = 0;  ///< 0: none
  };

  /// Of the line that the core wants next; kWait: ask again when told. [CXL-7.12]
  virtual Answer translate(const Transfer& transfer, std::uint64_t line, bool is_write,
                           Time now) = 0;
  /// That line is being asked for, at the home or not: the next one is another.
  virtual Use begin(bool asks_home) = 0;
  /// An Invalidate Completion may wait for it. [INV-04]
  virtual void end(const Use& use, Time now) = 0;
  /// Called with the time from which on it may be worth while to ask again, after kWait.
  virtual void on_change(std::function<void(Time)> changed) = 0;

 protected:
  ~LineAddresses() = default;
};

}  // namespace flitwise
