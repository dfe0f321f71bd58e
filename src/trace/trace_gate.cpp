// SPDX-License-Identifier: Apache-2.0
#include "trace/trace_gate.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "common/problems.h"
#include "common/ranges.h"
#include "trace/packet_note.h"

namespace flitwise {
namespace {

using Trigger = TraceSelection::Trigger;

/// Notes the word; true where it is asked for.
bool is_asked(const std::vector<std::string>& asked, const std::string& word,
              std::set<std::string>& seen) {
  if (asked.empty()) {
    return true;
  }
  seen.insert(word);
  return contains(asked, word);
}

/// Whose it is, whatever the wire says.
std::string requester_of(const Packet& packet) {
  return text_of(packet.has_identity ? packet.identity.bdf : packet.tlp.requester_id);
}

bool is_request(const Packet& packet) {
  return packet.kind == PacketKind::kTlp && !is_completion(packet.tlp.type);
}

void add_unmet(std::vector<std::string>& notes, const char* field,
               const std::vector<std::string>& asked, const std::set<std::string>& seen) {
  const std::vector<std::string> known(seen.begin(), seen.end());
  for (const std::string& word : asked) {
    if (seen.count(word) == 0) {
      notes.push_back(
          fmt::format("--trace-only {}={}: there was none; seen: {}{}", field, word,
                      known.empty() ? "nothing" : fmt::format("{}", fmt::join(known, ", ")),
                      config::nearest_hint(word, known, field)));
    }
  }
}

}  // namespace

TraceGate::TraceGate(TraceSelection selection, TraceSink& behind)
    : selection_(std::move(selection)), behind_(behind) {}

void TraceGate::add(const TracedLink& link) {
  if (!selection_.links.empty()) {
    links_.insert(link.name);
  }
  behind_.add(link);
}

bool TraceGate::has_words_of(const Packet& packet) {
  const bool is_type = is_asked(selection_.types, kind_of(packet), types_);
  if (selection_.requesters.empty()) {
    return is_type;
  }
  const bool has_requester = packet.kind == PacketKind::kTlp || packet.has_identity;
  return has_requester && is_asked(selection_.requesters, requester_of(packet), requesters_) &&
         is_type;
}

bool TraceGate::has_words_of(const TraceEvent& event) {
  return has_words_of(*event.packet) && is_asked(selection_.links, event.link, links_);
}

bool TraceGate::is_trigger(const TraceEvent& event) const {
  if (!waits_for_trigger() || !is_in_window(event.first)) {
    return false;
  }
  if (selection_.trigger == Trigger::kFault) {
    return event.is_damaged || event.is_lost || event.is_replay;
  }
  const Packet& packet = *event.packet;
  if (selection_.trigger != Trigger::kError || packet.kind != PacketKind::kTlp) {
    return false;
  }
  const Tlp& tlp = packet.tlp;
  return (is_completion(tlp.type) && tlp.status != CplStatus::kSC) || tlp.is_poisoned ||
         (is_message(tlp.type) &&
          (tlp.message_code == msg::kErrCor || tlp.message_code == msg::kErrNonFatal ||
           tlp.message_code == msg::kErrFatal));
}

void TraceGate::fire(Time from, Time until) {
  shown_from_ = from;
  shown_until_ = until;
  while (!held_.empty()) {
    pass_first();
  }
}

bool TraceGate::is_around_trigger(Time at) const {
  return selection_.trigger == Trigger::kNone ||
         (shown_from_ && *shown_from_ <= at && at <= shown_until_);
}

void TraceGate::record(const TraceEvent& event) {
  const bool is_wanted = has_words_of(event) && is_in_window(event.first);
  if (waits_for_trigger()) {
    hold(*event.packet, event, event.first, is_wanted);
    if (is_trigger(event)) {
      fire(event.first - selection_.before, event.first + selection_.after);
    } else {
      let_go(event.told);
    }
  } else {
    pass(event, is_wanted && is_around_trigger(event.first));
  }
}

void TraceGate::pass(TraceEvent event, bool is_shown) {
  event.is_shown = is_shown;
  has_shown_ = has_shown_ || is_shown;
  if (is_shown && is_request(*event.packet)) {
    shown_.insert(event.packet->uid);
  }
  behind_.record(event);
}

// A request is shown as its units are; a line of CXL has none.
void TraceGate::over(const RequestEvent& event) {
  const Packet& packet = *event.packet;
  const bool is_line = packet.cxl != nullptr;
  const bool is_wanted =
      !is_line || (has_words_of(packet) && is_in_window(event.done) && selection_.links.empty());
  if (!waits_for_trigger()) {
    const bool is_shown =
        is_line ? is_wanted && is_around_trigger(event.done) : shown_.erase(packet.uid) > 0;
    if (is_shown) {
      has_shown_ = true;
      behind_.over(event);
    }
    return;
  }
  hold(packet, std::nullopt, event.done, is_wanted);
  const Time issued = packet.stamped(Hop::kIssue);
  if (selection_.trigger == Trigger::kSlow && is_in_window(event.done) && issued != kNotStamped &&
      event.done - issued >= selection_.slow) {
    fire(event.done - selection_.slow - selection_.before, event.done + selection_.after);
  }
}

void TraceGate::hold(const Packet& packet, const std::optional<TraceEvent>& unit, Time at,
                     bool is_wanted) {
  PacketRef copy = copies_.make(packet.kind);
  static_cast<PacketFields&>(*copy) = packet;
  copy->payload = packet.payload;
  copy->stamps = packet.stamps;
  if (packet.cxl) {
    copy->cxl = std::make_unique<CxlMessage>(*packet.cxl);
  }
  held_.push_back({std::move(copy), unit, at, is_wanted});
  if (held_.size() > kMostHeld) {
    has_too_many_ = true;
    held_.front().is_wanted = false;
    pass_first();
  }
}

// Those that no trigger from now on can want any more.
void TraceGate::let_go(Time now) {
  const Time reach = selection_.before + selection_.slow;
  while (!held_.empty() && held_.front().at + reach < now) {
    pass_first();
  }
}

void TraceGate::pass_first() {
  Held first = std::move(held_.front());
  held_.pop_front();
  const bool is_shown = first.is_wanted && is_around_trigger(first.at);
  if (first.unit) {
    first.unit->packet = first.packet.get();
    pass(*first.unit, is_shown);
  } else if (first.packet->cxl ? is_shown : shown_.erase(first.packet->uid) > 0) {
    has_shown_ = true;
    behind_.over({first.packet.get(), first.at});
  }
}

void TraceGate::flush() {
  while (!held_.empty()) {
    pass_first();
  }
}

std::vector<std::string> TraceGate::notes() const {
  std::vector<std::string> notes;
  if (waits_for_trigger()) {
    notes.emplace_back("--trace-trigger: it never came; traces have nothing");
  } else if (!has_shown_) {
    notes.emplace_back(
        "traces have nothing: no unit was in the window with all that --trace-only says");
  }
  add_unmet(notes, "link", selection_.links, links_);
  add_unmet(notes, "type", selection_.types, types_);
  add_unmet(notes, "requester", selection_.requesters, requesters_);
  if (has_too_many_) {
    notes.push_back(
        fmt::format("more than {} units were before the trigger in the time asked for; "
                    "traces have the last of them",
                    kMostHeld));
  }
  return notes;
}

}  // namespace flitwise
