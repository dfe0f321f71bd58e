// SPDX-License-Identifier: Apache-2.0
// Groups of posted requests, each with its oldest.
#include "link/posted_index.h"

#include "link/ordering.h"

namespace flitwise {
namespace {

enum class GroupKind : std::uint8_t { kAll, kRequester, kPasid, kNoPasid };

/// Of one traffic class; a handle is told from a Requester ID of the same value.
constexpr std::uint64_t group_of(GroupKind kind, std::uint8_t tc, bool has_handle, Bdf requester,
                                 Pasid pasid) {
  return std::uint64_t{to_int(pasid)} << 32 | std::uint64_t{requester.value} << 16 |
         std::uint64_t{tc} << 8 | std::uint64_t{has_handle} << 4 |
         std::uint64_t{static_cast<std::uint8_t>(kind)};
}
constexpr std::uint64_t group_of_all(std::uint8_t tc, bool has_handle) {
  return group_of(GroupKind::kAll, tc, has_handle, Bdf{}, Pasid{});
}
constexpr std::uint64_t group_of_id(std::uint8_t tc, bool has_handle, Bdf requester) {
  return group_of(GroupKind::kRequester, tc, has_handle, requester, Pasid{});
}
constexpr std::uint64_t with_pasid_of(const Tlp& tlp) {
  return group_of(GroupKind::kPasid, tlp.tc, tlp.id_is_handle, tlp.requester_id, tlp.pasid);
}
constexpr std::uint64_t without_pasid(const Tlp& tlp) {
  return group_of(GroupKind::kNoPasid, tlp.tc, tlp.id_is_handle, tlp.requester_id, Pasid{});
}

}  // namespace

std::uint32_t PostedIndex::add(const Tlp& posted, std::uint64_t order) {
  const std::uint64_t groups[] = {group_of_all(posted.tc, posted.id_is_handle),
                                  group_of_id(posted.tc, posted.id_is_handle, posted.requester_id),
                                  posted.has_pasid ? with_pasid_of(posted) : without_pasid(posted)};
  const std::uint32_t token = posted_.open();
  posted_[token].order = order;
  for (std::size_t i = 0; i < posted_[token].links.size(); ++i) {
    Group& group = groups_[groups[i]];
    posted_[token].links[i] = {groups[i], group.last, kNobody};
    (group.last == kNobody ? group.first : posted_[group.last].links[i].next) = token;
    group.last = token;
  }
  return token;
}

void PostedIndex::remove(std::uint32_t token) {
  for (std::size_t i = 0; i < posted_[token].links.size(); ++i) {
    const Link link = posted_[token].links[i];
    Group& group = *groups_.find(link.group);
    (link.previous == kNobody ? group.first : posted_[link.previous].links[i].next) = link.next;
    (link.next == kNobody ? group.last : posted_[link.next].links[i].previous) = link.previous;
    if (group.first == kNobody) {
      groups_.erase(link.group);
    }
  }
  posted_.close(token);
}

// The cell of the ordering table and identities_differ(), asked of groups: where one of a group
// holds it back, all of it do. [LNK-9.1] [LNK-9.4] [LNK-9.5] [LNK-9.6] [LNK-1.7]
bool PostedIndex::holds_back(const Tlp& later, std::uint64_t order,
                             bool completes_io_or_cfg_write) const {
  const auto has_older = [&](std::uint64_t group) {
    const Group* const found = groups_.find(group);
    return found != nullptr && posted_[found->first].order < order;
  };
  if (passes_all_posted(later, completes_io_or_cfg_write)) {
    return false;
  }
  if (!later.id_based_ordering) {
    return has_older(group_of_all(later.tc, false)) || has_older(group_of_all(later.tc, true));
  }
  if (has_older(group_of_all(later.tc, !later.id_is_handle))) {
    return true;  // a handle beside a full ID proves nothing
  }
  if (later.id_is_handle) {
    return has_older(group_of_id(later.tc, true, later.requester_id));
  }
  if (ordering_class(later.type) == OrderingClass::kCompletion) {
    return has_older(group_of_id(later.tc, false, later.completer_id));
  }
  if (!later.has_pasid) {
    return has_older(group_of_id(later.tc, false, later.requester_id));
  }
  return has_older(without_pasid(later)) || has_older(with_pasid_of(later));
}

}  // namespace flitwise
