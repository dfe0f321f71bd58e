// SPDX-License-Identifier: Apache-2.0
// Who may pass a posted request, and which completions keep their order.
#include "monitor/ordering_monitor.h"

#include <algorithm>

#include "trace/packet_note.h"

namespace flitwise {
namespace {

constexpr MonitoredRule kPosted{"LNK-9.1", "a posted request passed an earlier posted request"};
constexpr MonitoredRule kRead{"LNK-9.4", "a read passed an earlier posted request"};
constexpr MonitoredRule kNonPostedData{
    "LNK-9.5", "a non-posted request with data passed an earlier posted request"};
constexpr MonitoredRule kCompletion{"LNK-9.6", "a completion passed an earlier posted request"};
constexpr MonitoredRule kSameTransaction{"LNK-9.7",
                                         "a completion passed another one of its transaction"};
constexpr MonitoredRule kTlpNotQueued{"LNK-9.1", "a TLP was sent that the queues have not taken"};

const MonitoredRule& rule_for(TlpType later) {
  const FcClass fc = fc_class(later);
  const MonitoredRule& of_request = has_data(later) ? kNonPostedData : kRead;
  return fc == FcClass::kPosted ? kPosted : fc == FcClass::kCompletion ? kCompletion : of_request;
}

enum NamedBy : std::uint8_t { kInFull, kByHandle, kByUnknownHandle };
using By = PostedGroups::By;

// Whose a TLP is: what the device meant where it is known, else what the header says. A completion
// comes from its completer.
PostedGroups::Owner owner_of(const Packet& packet) {
  const Tlp& tlp = packet.tlp;
  if (packet.has_identity) {
    const bool tells_pasid = tlp.id_is_handle || tlp.has_pasid;
    return {tlp.tc, tlp.id_is_handle ? kByHandle : kInFull, packet.identity.bdf,
            tells_pasid ? packet.identity.pasid : OptionalId<Pasid>()};
  }
  const bool is_answer = is_completion(tlp.type) && !tlp.id_is_handle;
  const bool tells_pasid = tlp.has_pasid && !tlp.id_is_handle && !is_answer;
  return {tlp.tc, tlp.id_is_handle ? kByUnknownHandle : kInFull,
          is_answer ? tlp.completer_id : tlp.requester_id,
          tells_pasid ? tlp.pasid : OptionalId<Pasid>()};
}

// A handle beside a full identity proves nothing, nor does a PASID beside none.
bool are_of_different_owners(const Packet& later, const Packet& earlier) {
  const PostedGroups::Owner a = owner_of(later);
  const PostedGroups::Owner b = owner_of(earlier);
  if (a.kind != b.kind) {
    return a.kind != kInFull && b.kind != kInFull &&
           later.tlp.requester_id != earlier.tlp.requester_id;
  }
  return a.id != b.id || ((a.kind != kInFull || (a.pasid && b.pasid)) && a.pasid != b.pasid);
}

bool are_of_one_transaction(const Tlp& a, const Tlp& b) {
  return a.requester_id == b.requester_id && a.tag == b.tag && a.tc == b.tc;
}

bool passes_all(const Packet& later) {
  const Tlp& tlp = later.tlp;
  const bool is_read = fc_class(tlp.type) == FcClass::kNonPosted && !has_data(tlp.type);
  return later.answers_io_or_cfg_write || (tlp.relaxed_ordering && !is_read);
}

bool may_pass_posted(const Packet& later, const Packet& earlier) {
  return passes_all(later) || later.tlp.tc != earlier.tlp.tc ||
         (later.tlp.id_based_ordering && are_of_different_owners(later, earlier));
}

}  // namespace

std::uint32_t OrderingMonitor::index(const Packet& posted, std::uint64_t order) {
  return posted_by_owner_.add(owner_of(posted), order);
}

// False where it may pass all posted requests of a lower order.
bool OrderingMonitor::may_be_wrong(const Packet& later, std::uint64_t order) {
  if (passes_all(later)) {
    return false;
  }
  if (posted_by_owner_.empty()) {
    Ring& posted = of(FcClass::kPosted);
    for (std::uint64_t i = posted.head; i != posted.tail; ++i) {
      posted.at(i).token = index(*posted.at(i).packet, posted.at(i).order);
    }
  }
  const PostedGroups::Owner own = owner_of(later);
  const auto waits = [&](By by, const PostedGroups::Owner& owner) {
    return posted_by_owner_.has_older(by, owner, order);
  };
  for (const NamedBy kind : {kInFull, kByHandle, kByUnknownHandle}) {
    const bool is_told = later.tlp.id_based_ordering && kind == own.kind;
    if (!is_told && waits(By::kKind, {own.tc, kind, {}, {}})) {
      return true;
    }
  }
  return waits(By::kPasid, own) ||
         (own.kind == kInFull &&
          (own.pasid ? waits(By::kPasid, {own.tc, kInFull, own.id, {}}) : waits(By::kId, own)));
}

// The oldest packet that came before this one and that it may not pass, or null.
const Packet* OrderingMonitor::wrongly_passed(const Slot& later) {
  constexpr std::uint64_t kFew = 8;  // are looked at, more are asked by owner
  const Packet& packet = *later.packet;
  const Ring& posted = of(FcClass::kPosted);
  const auto first = [&](const Ring& ring, auto is_wrong) -> const Slot& {
    return ring.at(ring.find(ring.head, ring.tail, [&](const Slot& one) {
      return one.order >= later.order || is_wrong(*one.packet);
    }));
  };
  const Slot* oldest = &later;
  if (posted.at(posted.head + kFew).order >= later.order || may_be_wrong(packet, later.order)) {
    oldest = &first(posted, [&](const Packet& one) { return !may_pass_posted(packet, one); });
  }
  if (is_completion(packet.tlp.type)) {
    const Slot& answer = first(of(FcClass::kCompletion), [&](const Packet& one) {
      return are_of_one_transaction(packet.tlp, one.tlp);
    });
    oldest = answer.order < oldest->order ? &answer : oldest;
  }
  return oldest->order < later.order ? oldest->packet : nullptr;
}

void OrderingMonitor::sent_out_of_turn(const Packet& packet, Time now) {
  oldest_ = std::min(
      {waiting_[0].first().order, waiting_[1].first().order, waiting_[2].first().order, queued_});
  if (const TlpKind kind = kind_of(packet.tlp); fits(packet, kind)) {
    sent(kind);
    return;
  }
  Ring& own = of(fc_class(packet.tlp.type));
  const std::uint64_t at =
      own.find(own.head, own.tail, [&](const Slot& one) { return one.packet == &packet; });
  if (at == own.tail) {
    reporter_.report(kTlpNotQueued, now, packet, "nothing");
    return;
  }
  if (const Packet* const earlier = wrongly_passed(own.at(at))) {
    const bool is_answer = is_completion(earlier->tlp.type);
    reporter_.report(is_answer ? kSameTransaction : rule_for(packet.tlp.type), now, packet,
                     text_of(*earlier));
  }
  own.move_down(at, own.head);
  take(own);
}

}  // namespace flitwise
