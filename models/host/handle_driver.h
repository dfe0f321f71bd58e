// SPDX-License-Identifier: Apache-2.0
/// The driver that manages a device's handles in software: through the handle registers of the
/// device and of the root port it allocates handles for contexts that start and frees those of
/// contexts that end. [DHI D12, D13, D15]
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <utility>

#include "dhi/handle_registers.h"
#include "host/host_access.h"

namespace flitwise {

/// Writes an order into a block of handle registers, in one go.
void write_command(HostAccess& bridge, std::uint64_t block, const HandleCommand& order);

class HandleDriver {
 public:
  struct Options {
    unsigned host_block = 0;         ///< handle registers of the host for this device
    std::uint64_t device_block = 0;  ///< address of the handle registers in the device's BAR 0
    HandleRange range;
    std::uint8_t epoch = 0;
    bool is_trusted = false;         ///< what ALLOCs ask for [DHI D19]
    std::uint16_t capabilities = 0;  ///< likewise [DHI D20]
    Time step{};                     ///< between two accesses
    std::function<DeviceIdentity(DomainId)> identity_of;
    std::function<ContextId(DomainId)> context_of;  ///< beside it [DHI D22]
  };

  HandleDriver(HostAccess& bridge, Options options);

  /// A context is there and wants a handle; it gets one as soon as one is free.
  void context_started(DomainId domain) {
    wanting_.push_back(domain);
    next();
  }
  void context_ended(DomainId domain);
  /// The same for one that does nothing any more; `done`: its handle is free at both ends, if it
  /// had one.
  void end_context(DomainId domain, std::function<void()> done);
  /// Frees what the message covers at the device, then at the host. `done` gets what the host said.
  void deallocate(const DeallocMessage& message, std::function<void(HandleStatus)> done);
  bool is_quiet() const { return !is_busy_ && jobs_.empty() && ended_.empty(); }

  std::uint64_t allocated() const { return allocated_; }
  std::uint64_t freed() const { return freed_; }
  std::uint64_t refused() const { return refused_; }

 private:
  using Then = std::function<void(HandleStatus)>;
  struct Job {
    DeallocMessage message;
    Then done;
  };

  std::uint64_t host_block() const { return handle_block(options_.host_block); }
  void next();
  void idle() {
    is_busy_ = false;
    next();
  }
  void allocate(DomainId domain, Dhi dhi);
  void free(const DeallocMessage& message, Then then);
  void release(Dhi dhi);
  DeallocMessage dealloc_of(Dhi dhi) const {
    return {DeallocScope::kOne, dhi, {}, {}, options_.epoch};
  }
  void command(std::uint64_t block, const HandleCommand& order, Then then) {
    write_command(bridge_, block, order);
    poll(block, std::move(then));
  }
  void poll(std::uint64_t block, Then then);
  void forget(const DeallocMessage& message);

  HostAccess& bridge_;
  const Options options_;
  std::deque<Dhi> free_;
  std::deque<DomainId> wanting_;
  std::deque<Dhi> ended_;
  std::deque<Job> jobs_;
  std::map<std::uint32_t, Dhi> handle_of_;  // by domain; in order, so that runs repeat
  bool is_busy_ = false;
  std::uint64_t allocated_ = 0, freed_ = 0, refused_ = 0;
};

/// Software that resets one function: FLR, then its handles at the host, then its Bus Master
/// Enable. Function 0 takes all others with it. [DHI D4]
struct FunctionResetOptions {
  Bdf function;
  std::uint16_t pcie = 0;   ///< where the PCI Express capability of that function starts
  unsigned host_block = 0;  ///< handle registers of the host for its device
  bool is_first = false;    ///< function 0: the handles of all functions go
  bool enables = true;      ///< ends by setting Bus Master Enable
};

/// `done` is told whether the host has cleared the handles of the function.
void reset_function(HostAccess& bridge, const FunctionResetOptions& options,
                    std::function<void(HandleStatus)> done);

}  // namespace flitwise
