// SPDX-License-Identifier: Apache-2.0
// Groups of posted requests, each with its oldest.
#include "link/posted_index.h"

#include "link/ordering.h"

namespace flitwise {

std::uint32_t PostedGroups::add(const Owner& owner, std::uint64_t order) {
  const std::uint32_t token = posted_.open();
  posted_[token].order = order;
  for (std::size_t i = 0; i < posted_[token].links.size(); ++i) {
    const std::uint64_t name = group_of(static_cast<By>(i), owner);
    Group& group = groups_[name];
    posted_[token].links[i] = {name, group.last, kNobody};
    (group.last == kNobody ? group.first : posted_[group.last].links[i].next) = token;
    group.last = token;
  }
  return token;
}

void PostedGroups::remove(std::uint32_t token) {
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

// The cell of the ordering table and identities_differ(): where one of a group holds it back, all
// of it do. [LNK-9.1] [LNK-9.4] [LNK-9.5] [LNK-9.6] [LNK-1.7]
bool PostedIndex::holds_back(const Tlp& later, std::uint64_t order,
                             bool completes_io_or_cfg_write) const {
  if (passes_all_posted(later, completes_io_or_cfg_write)) {
    return false;
  }
  Owner own = owner_of(later);
  Owner others = own;
  others.kind = !later.id_is_handle;
  if (has_older(By::kKind, others, order)) {
    return true;  // a handle beside a full ID proves nothing
  }
  if (!later.id_based_ordering) {
    return has_older(By::kKind, own, order);
  }
  const bool is_completion = ordering_class(later.type) == OrderingClass::kCompletion;
  if (later.id_is_handle || is_completion || !own.pasid) {
    own.id = is_completion && !later.id_is_handle ? later.completer_id : own.id;
    return has_older(By::kId, own, order);
  }
  others = {own.tc, own.kind, own.id, {}};
  return has_older(By::kPasid, others, order) || has_older(By::kPasid, own, order);
}

}  // namespace flitwise
