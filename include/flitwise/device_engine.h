// SPDX-License-Identifier: Apache-2.0
/// An engine of a library user on a device: it gives the device its work, in place of the DMA
/// engine. The device cuts requests into TLPs, and has tags, identities, handles and translations.
/// Given to System by Attachments; docs/library.md has an example.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "flitwise/ids.h"
#include "flitwise/time.h"

namespace flitwise {

/// One piece of work: it becomes one or more TLPs of one domain, in address order.
struct EngineRequest {
  enum class Kind : std::uint8_t {
    kWrite,
    kRead,
    kInterrupt,  ///< a write of 4 bytes that never bears a PASID
  };
  Kind kind = Kind::kWrite;
  DomainId domain{};  ///< below workload.domains
  std::uint64_t address = 0;
  std::uint32_t bytes = 0;
  std::uint32_t token = 0;             ///< the engine's own; comes back in EngineAnswer
  const std::uint8_t* data = nullptr;  ///< of a write, read before next() is called again; null: a
                                       ///< pattern
};

enum class EngineStatus : std::uint8_t {
  kDone,
  kUnsupportedRequest,
  kCompleterAbort,
  kTimeout,
  kPoisoned,      ///< data came that is not to be used
  kContextEnded,  ///< never sent to its end: its context or function is gone
};

/// A request is over: a write when its last TLP is queued for the link, a read when its last byte
/// has come.
struct EngineAnswer {
  std::uint32_t token = 0;
  EngineStatus status = EngineStatus::kDone;
  Time when{};
};

class DeviceEngine {
 public:
  virtual ~DeviceEngine() = default;
  /// The next request, or false where there is none now. The first run.warmup ones are not
  /// measured.
  virtual bool next(Time now, EngineRequest& request) = 0;
  /// When next() is worth asking again though no answer has come. An engine that hears of work from
  /// elsewhere says so by System::wake().
  virtual Time next_at() const { return Time::never(); }
  virtual void finished(const EngineAnswer& answer) = 0;
  /// Bytes that have come for a read, `offset` into it.
  virtual void data(std::uint32_t /*token*/, std::uint64_t /*offset*/,
                    const std::uint8_t* /*bytes*/, std::size_t /*size*/) {}
  /// All of its work has been given out and is over: the run may end.
  virtual bool is_done() const = 0;
  /// What it waits for, in a report of a run that does not get on; empty where for nothing.
  virtual std::string waits_for() const { return {}; }
};

}  // namespace flitwise
