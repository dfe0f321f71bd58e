// SPDX-License-Identifier: Apache-2.0
/// Posted requests that wait, by whose they are: whether one of them holds a TLP back is found in
/// the same time however many wait.
#pragma once

#include <array>
#include <cstdint>

#include "common/open_table.h"
#include "common/slot_list.h"
#include "flitwise/tlp.h"

namespace flitwise {

/// It knows no rule: the ordering monitor has one too.
class PostedGroups {
 public:
  /// `kind` tells apart IDs of the same value that mean something else.
  struct Owner {
    std::uint8_t tc = 0, kind = 0;
    Bdf id;
    OptionalId<Pasid> pasid;
  };
  /// What the members of a group have in common: traffic class and kind, with them the ID, with
  /// that the PASID or that there is none.
  enum class By : std::uint8_t { kKind, kId, kPasid };

  bool empty() const { return posted_.open_count() == 0; }
  /// Returns its token, for remove(). REQUIRES: `order` is above that of all that are there.
  std::uint32_t add(const Owner& owner, std::uint64_t order);
  void remove(std::uint32_t token);
  /// Has one of the owner's group an order below this one?
  bool has_older(By by, const Owner& owner, std::uint64_t order) const {
    const Group* const group = groups_.find(group_of(by, owner));
    return group != nullptr && posted_[group->first].order < order;
  }

 private:
  /// In the list of one group, oldest first.
  struct Link {
    std::uint64_t group = 0;
    std::uint32_t previous = kNobody, next = kNobody;
  };
  struct Posted {
    std::uint64_t order = 0;
    std::array<Link, 3> links;  // by By
  };
  struct Group {
    std::uint32_t first = kNobody, last = kNobody;
  };
  static constexpr std::uint64_t group_of(By by, const Owner& owner) {
    const Pasid pasid = owner.pasid.value_or(static_cast<Pasid>(~0U));
    return std::uint64_t{by == By::kPasid ? to_int(pasid) : 0} << 32 |
           std::uint64_t{by == By::kKind ? std::uint16_t{0} : owner.id.value} << 16 |
           std::uint64_t{owner.tc} << 8 | std::uint64_t{owner.kind} << 4 |
           std::uint64_t{static_cast<std::uint8_t>(by)};
  }
  static std::uint64_t spread(const std::uint64_t& group) { return group * kGoldenSpread; }

  OpenTable<std::uint64_t, Group, spread> groups_;
  TokenPool<Posted> posted_;
};

/// By what IDO compares.
class PostedIndex : public PostedGroups {
 public:
  std::uint32_t add(const Tlp& posted, std::uint64_t order) {
    return PostedGroups::add(owner_of(posted), order);
  }
  /// Is there one whose order is below this one and that `later` may not pass, by passing()?
  bool holds_back(const Tlp& later, std::uint64_t order, bool completes_io_or_cfg_write) const;

 private:
  /// A handle is told from a Requester ID of the same value.
  static Owner owner_of(const Tlp& tlp) {
    return {tlp.tc, tlp.id_is_handle, tlp.requester_id,
            tlp.has_pasid ? OptionalId<Pasid>(tlp.pasid) : OptionalId<Pasid>()};
  }
};

}  // namespace flitwise
