// SPDX-License-Identifier: Apache-2.0
/// Keys of a secured session: which one is used, until when, and for how many packets. [KY-1]
#pragma once

#include <cstdint>
#include <string>

#include "crypto/secret_key.h"
#include "flitwise/config.h"
#include "flitwise/time.h"
#include "srdma/replay_window.h"

namespace flitwise {

struct CredentialRules {
  bool is_secured = false;
  Time lifetime = Time::from_us(1'000'000);            ///< of a key
  Time refresh_margin = Time::from_us(10'000);         ///< before its end a new one is asked for
  Time grace = Time::from_us(1'000);                   ///< after its end packets are still taken
  std::uint64_t max_packets = std::uint64_t{1} << 32;  ///< of a key, each way
  RekeyEngine engine = RekeyEngine::kHardware;
  Time software_delay = Time::from_us(500);  ///< kSoftware: before the request, and before use
  bool replaces_on_expiry = false;           ///< also where sessions enough are left [KY-3]
};
/// What is wrong with them, for an error at the start; empty: nothing. [KY-C4]
std::string flaw_of(const CredentialRules& rules);

using EpochNumber = std::uint16_t;

/// What names a key in the header of a secured frame, beside the tuple of its session.
constexpr std::uint32_t key_id_of(std::uint16_t session, EpochNumber epoch) {
  return std::uint32_t{session} << 16 | epoch;
}

struct KeyEpoch {
  EpochNumber number = 0;
  Time not_after = Time::never();
  std::uint64_t max_packets = 0;
  SecretKey sends{}, receives{};
  std::uint64_t sent = 0;  ///< number of the last packet
  ReplayWindow window;
};

/// The epochs of one session at one end. All calls are O(1).
class KeyEpochs {
 public:
  KeyEpochs(const KeyEpoch& first, const CredentialRules& rules)
      : current_(first), rules_(&rules) {}

  /// The key that packets leave by.
  const KeyEpoch& current() const { return current_; }
  /// The number of the next packet of the current key. REQUIRES: may_send(now).
  std::uint64_t take_number() { return ++current_.sent; }
  /// Before the end of the key, in time and in packets. [KY-3] [KY-6]
  bool may_send(Time now) const {
    return now < current_.not_after && current_.sent < current_.max_packets;
  }
  /// Has the time come to ask for a new key? Also when an eighth of the packets is left. [KY-2]
  bool is_refresh_due(Time now) const {
    return now >= refresh_at() || current_.sent >= current_.max_packets - current_.max_packets / 8;
  }
  Time refresh_at() const { return current_.not_after - rules_->refresh_margin; }
  Time not_after() const { return current_.not_after; }

  /// Takes packets of a new key from now on, and of those that it has. Packets leave by it after
  /// use_offered().
  void offer(const KeyEpoch& next);
  bool has_offer() const { return has_offered_; }
  void use_offered();

  /// The epoch by which a packet that has come is to be opened: the current one, the one offered,
  /// or the one before until its end and `grace`. Null: none of them. [KY-2] [KY-3]
  KeyEpoch* receiving(EpochNumber number, Time now);
  bool is_offered(const KeyEpoch* epoch) const { return has_offered_ && epoch == &offered_; }
  /// Until then packets of the current key are taken.
  Time taken_until() const { return taken_until(current_); }
  EpochNumber next_number() const { return static_cast<EpochNumber>(current_.number + 1); }

 private:
  Time taken_until(const KeyEpoch& epoch) const {
    return epoch.not_after == Time::never() ? Time::never() : epoch.not_after + rules_->grace;
  }

  KeyEpoch current_, offered_, before_;
  bool has_offered_ = false, has_before_ = false;
  const CredentialRules* rules_;
};

}  // namespace flitwise
