// SPDX-License-Identifier: Apache-2.0
/// Receive half of shared credits: the pools, which TLPs of a class with two pools hold room of
/// which, and when which update is due. [LNK-11.23] to [LNK-11.27]
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "flitwise/config.h"
#include "flitwise/dllp.h"
#include "flitwise/packet.h"
#include "link/flow_control.h"

namespace flitwise {

class SharedReturns {
 public:
  /// `guideline`: latency of an update while credits are freed steadily. [LNK-8.15]
  SharedReturns(const LinkConfig& link, Time guideline);

  /// A TLP was accepted: has it taken shared credits? One that has not is remembered until it goes,
  /// since its mark is that of the next link by then.
  bool claim(const Packet& packet);
  /// The receive buffer of a TLP is free again: was its room shared?
  bool release(const Packet& packet);

  /// A TLP on shared credits was accepted; false: it came without them.
  bool receive(const Tlp& tlp);
  /// The receive buffer of a TLP on shared credits is free again.
  void free(const Tlp& tlp, Time now);

  /// The InitFC or UpdateFC of one class with the present value.
  Dllp dllp(DllpType type, FcClass fc_class) const;
  Time deadline() const;
  /// The update that is due now. REQUIRES: deadline() <= now.
  Dllp take(Time now);
  /// Starts the periodic updates. [LNK-8.12]
  void activate(Time now);
  /// The link has gone down. [LNK-10.7]
  void reset();
  bool is_conserved() const;
  bool has_unadvertised() const;

 private:
  struct Pools {
    CreditPool header;
    CreditPool data;
    Time due = Time::never();     // of what is freed and not told
    Time period = Time::never();  // of the next UpdateFC, whatever else has told of it
    bool has_news() const { return header.unadvertised() > 0 || data.unadvertised() > 0; }
    void told() {
      header.advertised();
      data.advertised();
      due = Time::never();
    }
  };
  static std::size_t index_of(FcClass fc_class) { return static_cast<std::size_t>(fc_class); }
  const Pools& pools_of(const Tlp& tlp) const;
  Pools& pools_of(const Tlp& tlp);
  bool fits_one_for_all() const;
  Dllp take_one_for_all();

  std::array<Pools, kFcClasses> pools_;
  std::vector<std::uint64_t> on_dedicated_;  // uids of TLPs in the receive buffer
  Time guideline_;
  std::uint32_t data_low_;  // less than the largest TLP needs
  bool is_merged_;
};

}  // namespace flitwise
