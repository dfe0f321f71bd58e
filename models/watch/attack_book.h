// SPDX-License-Identifier: Apache-2.0
/// What hostile devices try, by kind, and what gets through: counted for the results, not judged.
/// models/watch/isolation_watch.h judges. [DHI S1] [DHI S2] [SEC-01]
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "common/component.h"
#include "fabric/fabric.h"
#include "flitwise/config.h"
#include "flitwise/observer.h"
#include "flitwise/result.h"
#include "watch/isolation_watch.h"

namespace flitwise {

/// A request counts under the first of these that it forges. Those that ask for nothing foreign are
/// no attack, nor are malformed ones, interrupts and Translation Requests.
enum class Attack : std::uint8_t {
  kRequesterId,    ///< a function that is not the device's
  kPasid,          ///< a PASID that it was not given
  kHandle,         ///< a handle outside of its range
  kTranslated,     ///< AT=10 and an address that is no domain's of its device
  kProcess,        ///< an address of a domain of its device that it was not given
  kUntranslated,   ///< any other address that is not its own
  kHandleMessage,  ///< ALLOC or DEALLOC about somebody else, or with what it was not given
  kCompletion,     ///< an answer without a request
};
inline constexpr std::size_t kAttacks = 8;
const char* name_of(Attack attack);

/// What a device was given: its functions, the PASIDs of host.dhi.granted where that binds, and the
/// buffers of the domains that these name. Behind a switch all devices count as one that is below.
class AttackBook final : public Bystander {
 public:
  AttackBook(const Config& config, const Fabric& fabric);

  /// Counts from now on.
  void begin();
  void notice(const Observation& seen);
  /// A row for each kind; none where no device is hostile.
  void report(RunResult& result) const override;

 private:
  struct Attacker {
    const FabricDevice* device = nullptr;
    DeviceShare share;
    WatchedSpan own;        ///< its memory
    WatchedSpan of_device;  ///< that of all domains of the device
  };
  struct Count {
    std::uint64_t tried = 0, through = 0;
  };

  static Attacker attacker_of(const Config& config, const FabricDevice& device);
  std::optional<Attack> attack_of(const Attacker& attacker, const Packet& packet) const;
  static bool is_foreign_message(const Attacker& attacker, const Packet& packet);
  void count_tried(const Attacker& attacker, const Packet& packet);
  void reached_memory(const Attacker& attacker, const Packet& packet, std::uint64_t address);
  const Attacker* attacker_at(std::string_view root_port) const;
  /// `port`: of a switch at `host`; null for its upstream one. [DHI S1] [DHI D23]
  void told_by_switch(const Packet& packet, unsigned host, const Bridge* port, TlpFate fate);
  bool told_by_peer(const Packet& packet, std::string_view what);
  std::uint64_t raw_completions() const;
  std::uint64_t handles_taken() const;
  Count& at(Attack attack) { return counts_[static_cast<std::size_t>(attack)]; }

  const Fabric& fabric_;
  const IdentityForm form_;
  std::vector<Attacker> attackers_;
  std::array<Count, kAttacks> counts_{};
  std::unordered_map<std::uint64_t, Attack>
      across_;                            ///< by uid: to a peer, which has not refused it
  std::uint64_t completions_before_ = 0;  ///< that root ports had taken
  bool has_begun_ = false;
};

}  // namespace flitwise
