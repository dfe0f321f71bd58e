// SPDX-License-Identifier: Apache-2.0
/// What a device that sends by PIO and SDMA, and the software on the cores of its host, both know.
#pragma once

#include <algorithm>
#include <cstdint>

#include "flitwise/config.h"
#include "pio/credit_return.h"
#include "pio/launch.h"
#include "pio/sdma_area.h"

namespace flitwise {

/// Where the parts of a device that sends by PIO lie in BAR 0 of its PF. The window: [PIO-2.1].
/// model: the place of the registers (pio/send_registers.h).
inline constexpr std::uint64_t kPioWindow = std::uint64_t{32} << 20;
inline constexpr std::uint64_t kPioRegisters = std::uint64_t{16} << 20;
/// model: the tails of SDMA engines, eight bytes each.
inline constexpr std::uint64_t kSdmaTails = std::uint64_t{24} << 20;

/// What packets are like, beside what the config of the device says.
struct PacketTraits {
  bool checks_bytes = true;                ///< they carry stamps (pio/packet_stamp.h)
  unsigned first_hostile = kSendContexts;  ///< but for those of contexts from this one on
  double integrity_faults = 0;             ///< share of them that fail integrity [PIO-6.7]
  std::uint64_t seed = 0;                  ///< of these
  bool is_hostile(unsigned source) const {
    return source >= first_hostile && source < kSendContexts;
  }
  bool has_stamp(unsigned source) const { return checks_bytes && !is_hostile(source); }
};

/// What cores have written into the window of a device, for its checks.
struct PioSent {
  std::uint64_t packets = 0, bytes = 0;
  bool is_out = true;  ///< no core has a part of one
};

struct PioEngineConfig {
  PioConfig pio;
  unsigned contexts = 1;          ///< 0..contexts-1 are set up; each belongs to the domain it names
  std::uint64_t return_base = 0;  ///< address of the returns of context 0
  std::uint64_t return_stride = 0;  ///< and from one context to the next
  PacketTraits egress;
  bool uses_sdma = false;          ///< rings are set up
  std::uint64_t most_payload = 0;  ///< bytes of a packet behind its PBC
  /// Where the device writes its interrupts: they tell each other's by this address.
  std::uint64_t interrupt_address = 0;

  bool is_deep(unsigned context) const { return context < pio.deep_contexts; }
  /// Of a context in blocks.
  unsigned depth_of(unsigned context) const {
    return is_deep(context) ? pio.deep_depth : pio.depth;
  }
  /// Where software finds the returned counter of a context. [PIO-8.2]
  std::uint64_t shadow_of(unsigned context) const {
    const unsigned first = context / pio.group * pio.group;
    return return_base + first * return_stride + context % kContextsPerSet * kQwBytes;
  }
  /// SDMA engines that are set up. Engine e belongs to domain e.
  unsigned sdma_engines() const { return uses_sdma ? std::min(pio.sdma.engines, contexts) : 0; }
  /// In the lower half of the buffer of its domain: the other one is for what is received.
  SdmaArea sdma_area(unsigned engine) const {
    return {return_base + engine * return_stride, return_stride / 2, pio.sdma.ring,
            whole_dws(most_payload) + kQwBytes};
  }

 private:
  static std::uint64_t whole_dws(std::uint64_t bytes) { return (bytes + 3) / 4 * 4; }
};

/// The share of one core in the workload of a device. Threads of all its cores have numbers from 0
/// on; thread t has the contexts t, t + threads, ...
struct PioCoreConfig {
  CoresConfig cores;
  PioEngineConfig engine;
  unsigned first_thread = 0;
  unsigned all_threads() const { return cores.count * cores.threads; }
};

}  // namespace flitwise
