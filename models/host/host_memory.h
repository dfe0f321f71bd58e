// SPDX-License-Identifier: Apache-2.0
/// The memory model that comes with the project: a target of the TLM-2.0 base protocol with a
/// latency and a bandwidth. Any other TLM-2.0 memory can take its place.
#pragma once

#include <tlm_utils/simple_target_socket.h>
#include <systemc>
#include <tlm>

#include <cstdint>
#include <optional>
#include <vector>

#include "common/component.h"
#include "flitwise/config.h"
#include "flitwise/time.h"
#include "stats/wait_book.h"

namespace flitwise {

/// Answers at once with the delay annotated (early completion). Reads and writes take effect in the
/// order of the calls.
class HostMemory : public ComponentModule {
 public:
  tlm_utils::simple_target_socket<HostMemory> socket{"socket"};

  /// size: bytes, at address 0. Pages take real memory only once touched.
  HostMemory(const sc_core::sc_module_name& name, const HostConfig& config);
  ~HostMemory() override;

  /// Untimed, before the start too. Out of range: false, nothing done.
  bool poke(std::uint64_t address, const std::uint8_t* bytes, std::size_t size);
  /// From now on these bytes are those of the file from `offset` on, whoever else writes it; what
  /// was there is gone. All of whole pages. False, and nothing done, where that cannot be.
  bool map(std::uint64_t address, std::uint64_t size, int file, std::uint64_t offset);
  bool is_quiet() const override { return true; }
  void start_window() override;
  void end_window() override { busy_ = busy(); }
  void extend_window() override { busy_.reset(); }
  /// For the data bus (`host.memory.bandwidth`), and the share of time in which it is in use.
  std::vector<WaitResult> waits() const override;

 private:
  tlm::tlm_sync_enum nb_transport(tlm::tlm_generic_payload& payload, tlm::tlm_phase& phase,
                                  sc_core::sc_time& delay);
  void b_transport(tlm::tlm_generic_payload& payload, sc_core::sc_time& delay);
  unsigned int debug(tlm::tlm_generic_payload& payload);
  void access(tlm::tlm_generic_payload& payload);
  double busy() const;
  bool is_inside(std::uint64_t address, std::size_t size) const {
    return address < size_ && size <= size_ - address;
  }

  const std::uint64_t size_;
  const sc_core::sc_time latency_;
  const double fs_per_byte_;
  std::uint8_t* bytes_ = nullptr;
  Time busy_until_{};
  WaitBook bus_waits_;
  Time window_begin_{}, bus_time_{};  // of the accesses since then
  std::optional<double> busy_;        // once the window has ended
};

}  // namespace flitwise
