// SPDX-License-Identifier: Apache-2.0
/// Watches which translations a device has: its translated requests go where the translation agent
/// has let it, and nowhere by a translation that an invalidation has taken and that the device has
/// answered. So do those of its cache, and none is out when it answers. [EP-7] [INV-04] [CXL-7.12]
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "ats/ats_messages.h"
#include "ats/translation_cache.h"
#include "monitor/violation_log.h"

namespace flitwise {

/// Of one link to a device that names its requests by Requester ID, and makes no translated ones
/// but by translations that it has asked for.
class TranslationMonitor {
 public:
  explicit TranslationMonitor(Reporter reporter) : reporter_(reporter) {}

  /// The device has put a TLP on the wire for the first time.
  void sent(const Packet& packet, Time now);
  /// One has come to it.
  void delivered(const Packet& packet);
  /// Its cache has put a message on the wire; one has come to it.
  void sent_message(const Packet& packet, Time now);
  void delivered_message(const Packet& packet);

 private:
  /// A translation that the device may use.
  struct Grant {
    Bdf function;
    OptionalId<Pasid> pasid;
    PageRange guest;
    std::uint64_t asked = 0;  // invalidations that had come before it was asked for
  };
  struct Ask {
    OptionalId<Pasid> pasid;
    std::uint64_t next = 0;  // address that the next entry is about
    std::uint64_t asked = 0;
  };
  struct Invalidation {
    InvalidateRequest request;
    std::uint64_t number = 0;  // from 1 on
    bool is_answered = false;
    bool strikes(const Grant& grant) const;
  };
  using Grants = std::unordered_multimap<std::uint64_t, Grant>;

  static std::uint64_t key_of(std::uint64_t host, unsigned size_bits) {
    return host >> size_bits << 6 | (size_bits & 63U);
  }
  void ask(const Packet& packet);
  void take_answer(const Packet& completion);
  void grant(const Grant& grant, std::uint64_t host);
  void answered(const Packet& packet, Time now);
  /// What its cache waits for.
  struct Line {
    std::uint64_t address = 0;
    std::uint64_t asked = 0;  // invalidations that had come before it was sent
  };
  bool is_used_by(const Line& line, const Invalidation& invalidation) const;
  bool has_grant(Bdf function, std::uint64_t address, std::uint64_t bytes) const;

  Reporter reporter_;
  Grants grants_;                                // by page of the host
  std::uint64_t sizes_ = 0;                      // bit n: there are pages of 2^n bytes
  std::unordered_map<std::uint32_t, Ask> asks_;  // by Requester ID and tag
  std::vector<Invalidation> invalidations_;      // that may still strike something
  std::uint64_t invalidated_ = 0;
  bool has_asked_ = false;                         // else its cache has addresses of the host
  std::unordered_map<std::uint16_t, Line> lines_;  // by CQID
};

}  // namespace flitwise
