// SPDX-License-Identifier: Apache-2.0
// Who may pass a posted request, and which completions keep their order.
#include "monitor/ordering_monitor.h"

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

// Whose the two are: what the devices meant where it is known, else what the headers say. A
// completion comes from its completer. A PASID tells two apart only from another PASID.
bool are_of_different_owners(const Packet& later, const Packet& earlier) {
  const Tlp& a = later.tlp;
  const Tlp& b = earlier.tlp;
  if (later.has_identity && earlier.has_identity) {
    const DeviceIdentity& one = later.identity;
    const DeviceIdentity& other = earlier.identity;
    const bool proves = (a.has_pasid && b.has_pasid) || (a.id_is_handle && b.id_is_handle);
    return one.bdf != other.bdf || (proves && one.pasid != other.pasid);
  }
  if (a.id_is_handle || b.id_is_handle) {  // a handle beside a full identity proves nothing
    return a.id_is_handle && b.id_is_handle && a.requester_id != b.requester_id;
  }
  if (is_completion(a.type)) {
    return a.completer_id != b.requester_id;
  }
  return a.requester_id != b.requester_id || (a.has_pasid && b.has_pasid && a.pasid != b.pasid);
}

bool are_of_one_transaction(const Tlp& a, const Tlp& b) {
  return a.requester_id == b.requester_id && a.tag == b.tag && a.tc == b.tc;
}

bool may_pass_posted(const Packet& later, const Packet& earlier) {
  const Tlp& tlp = later.tlp;
  const bool is_read = fc_class(tlp.type) == FcClass::kNonPosted && !has_data(tlp.type);
  return later.answers_io_or_cfg_write || tlp.tc != earlier.tlp.tc ||
         (tlp.relaxed_ordering && !is_read) ||
         (tlp.id_based_ordering && are_of_different_owners(later, earlier));
}

}  // namespace

// The oldest packet ahead of `index` that this one may not pass, or null.
const Packet* OrderingMonitor::wrongly_passed(const Packet& later, std::size_t index) const {
  const bool answers = is_completion(later.tlp.type);
  for (std::size_t i = 0; i < index; ++i) {
    const bool is_wrong =
        (pending_.is(i, FcClass::kPosted) && !may_pass_posted(later, pending_.packet(i))) ||
        (answers && pending_.is(i, FcClass::kCompletion) &&
         are_of_one_transaction(later.tlp, pending_.packet(i).tlp));
    if (is_wrong) {
      return &pending_.packet(i);
    }
  }
  return nullptr;
}

void OrderingMonitor::sent_out_of_turn(const Packet& packet, Time now) {
  const std::size_t index = pending_.find(packet, kind_of(packet.tlp).fc);
  if (index == pending_.size()) {
    reporter_.report(kTlpNotQueued, now, packet, "nothing");
    return;
  }
  if (const Packet* const earlier = wrongly_passed(packet, index)) {
    const bool is_answer = is_completion(earlier->tlp.type);
    reporter_.report(is_answer ? kSameTransaction : rule_for(packet.tlp.type), now, packet,
                     text_of(*earlier));
  }
  pending_.erase(index);
}

}  // namespace flitwise
