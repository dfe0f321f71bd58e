// SPDX-License-Identifier: Apache-2.0
/// Hostile software of a function with an RDMA adapter: it writes anything into all that it can
/// reach, which are its buffers, its BAR 0 and the configuration space of its function. Half of it
/// is random bytes, half what makes sense but for a number or two. At its end the hypervisor resets
/// the function. [HP-1] [HP-4] [HP-7]
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "common/component.h"
#include "common/random.h"
#include "common/wakeup.h"
#include "rdma/ring_entries.h"
#include "rdma/verbs_config.h"

namespace flitwise {

class HostileGuest final : public ComponentModule {
 public:
  struct Hooks {
    std::function<void(std::uint64_t address, const std::uint8_t* bytes, std::size_t size)> poke;
    /// To an offset of BAR 0 of its function.
    std::function<void(std::uint64_t offset, const std::uint8_t* bytes, std::size_t size)> store;
    /// Up to four bytes of a DW of its configuration space; `done` when software may go on. Empty:
    /// it has none that it may write.
    std::function<void(std::uint16_t offset, std::uint32_t value, std::uint8_t enables,
                       std::function<void()> done)>
        configure;
    /// Its function is reset, and stays so.
    std::function<void(std::function<void()> done)> shut_down;
    std::function<void()> begins;  ///< its next act
    std::function<void()> work_ended;
  };
  /// acts: how often it writes something. bar: bytes of its BAR 0.
  HostileGuest(const sc_core::sc_module_name& name, const VerbsDriverConfig& config,
               std::uint64_t acts, std::uint64_t bar, Random random, Hooks hooks);

  /// registers: of its configuration space, that it likes best.
  void start(Time now, std::vector<std::uint16_t> registers);

  bool is_quiet() const override { return true; }
  bool is_exhausted() const override { return is_over_; }
  Time next_own_work() const override { return next_; }
  void add_progress(Progress& sum) const override;
  Counts errors() const override { return {{"hostile_acts", acts_ - left_}}; }

 private:
  void act();
  void write_memory();
  void write_entry();
  void write_bar();
  void ring();
  void arm();
  void command();
  void configure();
  void end();
  void store(std::uint64_t offset, const std::uint8_t* bytes, std::size_t size) const {
    hooks_.store(offset, bytes, size);
  }
  void store_word(std::uint64_t offset, std::uint64_t word) const;
  SendEntry some_entry();
  std::uint32_t some_pair();
  std::uint64_t some_address();
  std::uint32_t below(std::uint64_t bound) {
    return static_cast<std::uint32_t>(random_.below(bound));
  }

  const VerbsDriverConfig config_;
  const std::uint64_t acts_, bar_;
  const Hooks hooks_;
  Random random_;
  Wakeup wakeup_;
  std::uint64_t left_;
  Time next_ = Time::never();
  std::vector<std::uint8_t> bytes_;
  std::vector<std::uint16_t> registers_;
  bool is_configuring_ = false, is_over_ = false;
};

}  // namespace flitwise
