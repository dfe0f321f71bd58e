// SPDX-License-Identifier: Apache-2.0
// Translations of a device: accesses, requests, invalidations, page requests, and the books.
#include "endpoint/ats_unit.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "common/ranges.h"
#include "flitwise/link_socket.h"

namespace flitwise {
namespace {

// Is the page among those that this transfer has asked for, or waits for?
bool may_wait_with(const ParkedTransfer& asker, const AtsAccess& access) {
  const AtsAccess& first = asker.access;
  return first.function == access.function && first.tag == access.tag &&
         first.kind == access.kind &&
         (access.address >> kSmallestRangeBits) - (first.address >> kSmallestRangeBits) <
             asker.group_pages;
}

}  // namespace

AtsUnit::Function::Function(const DeviceConfig& device, std::uint64_t seed)
    : atc({{device.atc.entries, device.atc.ways, device.atc.policy, seed},
           device.atc.requests,
           // A read needs a tag before it uses anything, a line a CQID.
           (1U << device.tag_bits) + (device.cxl.cache.size > 0 ? device.cxl.cache.requests : 0U),
           device.atc.discard,
           {device.atc.coalesce, device.atc.rounds_up, device.atc.keeps_agent_id}}),
      policy(device.atc, 0),
      pending(device.atc.requests),
      reads(std::size_t{1} << device.tag_bits) {}

AtsUnit::AtsUnit(const DeviceConfig& device, std::uint64_t seed, PageRequestInterface* pages)
    : parked(device.atc.parked),
      device_(device),
      seed_(seed),
      pages_(pages),
      functions_(device.functions.count) {}

AtsUnit::Function& AtsUnit::function(unsigned index) {
  std::unique_ptr<Function>& one = functions_[index];
  if (!one) {
    one = std::make_unique<Function>(device_, seed_ + index);
  }
  return *one;
}

void AtsUnit::configure(unsigned index, const TranslationSettings& settings) {
  if (!settings.is_enabled && !knows(index)) {
    return;
  }
  Function& one = function(index);
  if (settings.stu != one.settings.stu) {
    one.policy = {device_.atc, settings.stu};
  }
  const bool changes = settings.is_enabled != one.settings.is_enabled;
  one.settings = settings;
  one.atc.set_control(settings.is_enabled, settings.stu);
  parked.for_each([&](Slot slot, ParkedTransfer& transfer) {
    if (transfer.access.function == index && changes) {
      take_grant(transfer);
      if (transfer.state == ParkedState::kWantsRequest) {
        parked.set_state(slot, ParkedState::kReady);
      }
    }
  });
  if (has_line_ && line_.access.function == index && changes) {
    take_grant(line_);
  }
}

void AtsUnit::take_grant(ParkedTransfer& one) const {
  one.grant.reset();
  one.answer = AgentAnswer::kNone;
}

void AtsUnit::reset(unsigned index, Bdf bdf) {
  if (pages_ != nullptr && index != 0) {
    pages_->forget(bdf);
  }
  if (!knows(index)) {
    return;
  }
  Function& one = *functions_[index];
  one.atc.reset();
  one.replies = DueQueue<Slot>();
  one.settings = {};
  for (Pending& pending : one.pending) {
    pending.is_out = false;
  }
  std::fill(one.reads.begin(), one.reads.end(), Read{});
  ++one.epoch;
  has_line_ = has_line_ && line_.access.function != index;
  parked.for_each([&](Slot slot, ParkedTransfer& transfer) {
    if (transfer.access.function == index) {
      release(slot, transfer.when);
    }
  });
}

// It asks anew when it is its turn, on the first edge of the device's clock at or after `when`.
void AtsUnit::release(Slot slot, Time when) {
  ParkedTransfer& transfer = parked.at(slot);
  transfer.grant.reset();
  transfer.answer = AgentAnswer::kNone;
  transfer.when = when;
  parked.set_state(slot, ParkedState::kReady, next_edge(when, device_.timing.clock));
}

AtsRoute AtsUnit::route(const AtsAccess& access, const ParkedTransfer* waited, bool was_counted) {
  AtsRoute route;
  if (!device_.atc.enabled || functions_[access.function] == nullptr ||
      !functions_[access.function]->atc.cache.is_usable()) {
    return route;
  }
  Function& one = *functions_[access.function];
  route.latency = device_.atc.timing.lookup;
  const TranslationCache::Entry* entry = one.atc.cache.find(access.address, access.tag);
  AccessChoice choice =
      entry != nullptr ? choice_for(entry->translation, access.kind) : AccessChoice::kNotWithThis;
  const bool has_grant =
      waited != nullptr && waited->grant && waited->grant->range.contains(access.address);
  if (choice == AccessChoice::kNotWithThis && has_grant) {
    entry = &*waited->grant;
    choice = choice_for(entry->translation, access.kind);
  }
  const bool is_miss = choice == AccessChoice::kNotWithThis;
  // A TLP waits for a translation that is due already where a request is out that will tell, or
  // where its transfer has stood still for it.
  if (!was_counted && access.counts) {
    AtsResult& counts = one.counts;
    const bool is_under_miss = has_grant || (is_miss && request_for(access));
    ++(is_under_miss ? counts.misses_under_miss : is_miss ? counts.misses : counts.hits);
  }
  if (choice == AccessChoice::kTranslated) {
    route.kind = AtsRoute::Kind::kTranslated;
    route.address = entry->translate(access.address);
    route.entry = entry;
  } else if (is_miss) {
    miss(one, access, waited, !was_counted, route);
  }
  return route;
}

// [TCP-09] [TCP-10] [TCP-11] The policy says what is worth a request; who has asked once insists.
void AtsUnit::miss(Function& one, const AtsAccess& access, const ParkedTransfer* waited,
                   bool is_new, AtsRoute& route) {
  if (waited != nullptr && waited->answer != AgentAnswer::kNone) {
    route.kind = waited->answer == AgentAnswer::kRefused ? AtsRoute::Kind::kRefused
                                                         : AtsRoute::Kind::kUntranslated;
    return;
  }
  const MissedAccess missed{access.address, access.tag.pasid, access.has_hint};
  if (is_new) {
    one.policy.note_miss(missed);
  }
  const unsigned wanted = one.policy.translations_for(missed);
  if (wanted != 0 || (waited != nullptr && waited->has_asked)) {
    route.kind = AtsRoute::Kind::kAsk;
    route.translations =
        std::min(std::max(wanted, device_.atc.translations), max_translations(one.settings));
  }
}

void AtsUnit::read_opened(unsigned index, std::uint16_t tag, const AtsAccess* translated,
                          std::optional<StaticStructure> structure) {
  if (functions_[index] == nullptr) {
    return;
  }
  Function& one = *functions_[index];
  Read& read = one.reads[tag];
  read.issued = one.atc.writes.issued(kTrafficClass);
  read.use =
      translated == nullptr ? kNoUse : one.atc.uses.open(translated->span(), translated->tag.pasid);
  read.structure = structure;
}

std::optional<StaticStructure> AtsUnit::read_ended(unsigned index, std::uint16_t tag,
                                                   bool is_pushing) {
  if (functions_[index] == nullptr) {
    return std::nullopt;
  }
  Function& one = *functions_[index];
  Read& read = one.reads[tag];
  if (is_pushing) {
    one.atc.writes.note_pushed(kTrafficClass, read.issued);
  }
  if (read.use != kNoUse) {
    one.atc.invalidations.end_use(read.use);
  }
  return std::exchange(read, Read{}).structure;
}

void AtsUnit::structures_set(Time when) {
  parked.for_each([&](Slot slot, const ParkedTransfer& transfer) {
    if (transfer.state == ParkedState::kAwaitsReply && transfer.request == kStructure) {
      release(slot, when);
    }
  });
}

ParkedTransfer& AtsUnit::line_for(const AtsAccess& access) {
  const bool is_same = has_line_ && line_.access.function == access.function &&
                       line_.access.tag == access.tag && line_.access.address == access.address &&
                       line_.access.kind == access.kind;
  if (!is_same) {
    line_ = ParkedTransfer{};
    line_.access = access;
    line_.has_asked = true;  // whatever the policy says
    has_line_ = true;
  }
  return line_;
}

LineAddresses::Use AtsUnit::open_use(const AtsAccess& access) {
  Function& one = *functions_[access.function];
  return {access.function, one.atc.uses.open(access.span(), access.tag.pasid), one.epoch};
}

void AtsUnit::end_use(const LineAddresses::Use& use) {
  Function& one = *functions_[use.function];
  if (use.epoch == one.epoch) {
    one.atc.invalidations.end_use(use.slot);
  }
}

std::optional<Slot> AtsUnit::request_for(const AtsAccess& access) const {
  const Function& one = *functions_[access.function];
  for (Slot slot = 0; slot < one.pending.size(); ++slot) {
    const Pending& pending = one.pending[slot];
    const bool tells_enough = !pending.ask.no_write || access.kind != AccessKind::kWrite;
    if (pending.is_out && tells_enough && one.atc.requests.tag_of(slot) == access.tag &&
        access.address >= pending.implied.first && access.address <= pending.implied.last &&
        !one.atc.requests.is_discarded(slot, access.address)) {
      return slot;
    }
  }
  return std::nullopt;
}

TranslationAsk AtsUnit::ask_for(const AtsAccess& access, unsigned translations) const {
  TranslationAsk ask;
  ask.address = access.address & ~PageRange::mask_of(kSmallestRangeBits);  // [ATR-10]
  ask.translations = translations;
  ask.no_write = access.kind != AccessKind::kWrite;  // [ATR-15]
  ask.pasid = access.tag.pasid;
  ask.privileged = access.tag.privileged;
  ask.execute = access.tag.pasid.has_value() && access.kind == AccessKind::kExecute;
  return ask;
}

bool AtsUnit::has_room_for_request(unsigned index, Time now) {
  if (functions_[index] == nullptr) {
    return true;
  }
  Function& one = *functions_[index];
  while (one.replies.is_due(now)) {
    one.replies.take();
  }
  return one.atc.requests.has_room(one.replies.size());
}

Slot AtsUnit::open_request(unsigned index, const TranslationAsk& ask, const Tlp& request,
                           bool counts) {
  Function& one = *functions_[index];
  const unsigned stu = one.settings.stu;
  const Slot slot = one.atc.requests.open(ask, stu);
  one.pending[slot] = {
      ask, implied_span(ask.address, ask.translations, stu),
      TranslationReceiver(request, ask.pasid.has_value(), one.settings.rcb_bytes, stu), true};
  one.counts.requests += counts ? 1U : 0U;
  return slot;
}

TranslationVerdict AtsUnit::take_in(TranslationReceiver& receiver, const Packet& packet) {
  const Tlp& completion = packet.tlp;
  const std::uint8_t* const payload = packet.payload.data();
  if (completion.type == TlpType::kCplD &&
      packet.payload.size() < std::size_t{completion.length_dw} * 4) {
    return TranslationVerdict::kInconsistent;
  }
  const TranslationVerdict verdict = receiver.check(completion, payload);
  if (verdict == TranslationVerdict::kPartial || verdict == TranslationVerdict::kLast) {
    receiver.accept(completion, payload);
  }
  return verdict;
}

void AtsUnit::end_request(unsigned index, Slot request, TranslationVerdict verdict, Time when) {
  Function& one = *functions_[index];
  Pending& pending = one.pending[request];
  CacheablePieces found;
  if (verdict == TranslationVerdict::kLast) {
    found = one.atc.requests.cacheable(request, pending.receiver);
  }
  parked.for_each([&](Slot slot, ParkedTransfer& transfer) {
    if (transfer.state != ParkedState::kAwaitsReply || transfer.access.function != index ||
        transfer.request != request) {
      return;
    }
    release(slot, when);
    if (verdict == TranslationVerdict::kLast) {
      const bool is_struck = one.atc.requests.is_discarded(request, transfer.access.address);
      settle(transfer, pending, found, is_struck);
    } else if (verdict != TranslationVerdict::kUnsupported) {
      transfer.answer = AgentAnswer::kVoid;
    }
  });
  if (ParkedTransfer* const line = line_behind(index, request)) {
    take_grant(*line);
    line->state = ParkedState::kReady;
    line->when = when;
    if (verdict == TranslationVerdict::kLast) {
      settle(*line, pending, found, one.atc.requests.is_discarded(request, line->access.address));
    } else if (verdict != TranslationVerdict::kUnsupported) {
      line->answer = AgentAnswer::kVoid;
    }
  }
  pending.is_out = false;
  one.replies.add(request, when);
  one.atc.end_request(request, verdict, pending.receiver);
}

// What the reply says of one access that waited for it. [TCP-09] [TCP-10] [TCP-11] [ATR-15] Where
// an invalidation has struck it, or it is about other pages, that is nothing. [TCP-19] [ATR-19]
void AtsUnit::settle(ParkedTransfer& one, const Pending& pending, const CacheablePieces& found,
                     bool is_struck) const {
  const std::uint64_t address = one.access.address;
  for (const CacheablePiece& piece : found) {
    if (piece.range.contains(address)) {
      one.grant = TranslationCache::Entry{piece.range, one.access.tag, piece.translation};
      const bool is_missing =
          choice_for(piece.translation, one.access.kind) == AccessChoice::kNotWithThis;
      one.answer = is_missing ? AgentAnswer::kRefused : AgentAnswer::kNone;
      return;
    }
  }
  for (unsigned i = 0; i < pending.receiver.count() && !is_struck; ++i) {
    const bool is_hole = !pending.receiver.entry(i).has_access();
    if (is_hole && pending.receiver.range(i).contains(address)) {
      one.answer = AgentAnswer::kRefused;
      return;
    }
  }
}

InvalidateVerdict AtsUnit::invalidate(unsigned index, const InvalidateRequest& request) {
  Function& one = function(index);
  const InvalidateVerdict verdict = one.atc.invalidations.check(request);
  if (verdict != InvalidateVerdict::kAccept) {
    return verdict;
  }
  one.atc.invalidations.accept(request);
  ++one.counts.invalidations;
  const PageRange range = rounded_up_to_stu(request.range, one.settings.stu);
  const InvalidationScope scope = scope_of(request);
  const auto strike = [&](ParkedTransfer& transfer) {
    const bool is_hit = transfer.grant && transfer.access.function == index &&
                        scope.covers(transfer.access.tag.pasid) &&
                        range.overlaps(transfer.grant->range);
    if (is_hit) {
      take_grant(transfer);
    }
  };
  parked.for_each([&](Slot /*slot*/, ParkedTransfer& transfer) { strike(transfer); });
  if (has_line_) {
    strike(line_);
  }
  return verdict;
}

// ---- page requests

// Nobody answers where it is off or has failed; without a free index or credit somebody will.
bool AtsUnit::can_ask_for_pages() const {
  return pages_ != nullptr && (pages_->can_open(0) || pages_->outstanding_groups() == kPrgIndices);
}

std::optional<std::uint16_t> AtsUnit::group_for(const AtsAccess& access) {
  std::optional<std::uint16_t> found;
  parked.for_each([&](Slot /*slot*/, const ParkedTransfer& transfer) {
    if (transfer.state == ParkedState::kAwaitsPage && may_wait_with(transfer, access)) {
      found = transfer.prg_index;
    }
  });
  return found;
}

AtsUnit::NewGroup AtsUnit::open_group(const AtsAccess& access, std::uint64_t bytes, Bdf bdf) {
  const std::uint64_t last = access.address + std::max<std::uint64_t>(bytes, 1) - 1;
  const std::uint64_t pages =
      (last >> kSmallestRangeBits) - (access.address >> kSmallestRangeBits) + 1;
  const auto most = std::min<std::uint64_t>(pages_->credits(), device_.pri.group_pages);
  NewGroup group;
  group.pages = static_cast<unsigned>(std::min(pages, most));
  group.index = pages_->open_group(bdf, access.tag.pasid, group.pages);
  return group;
}

PageRequest AtsUnit::next_page_request(const NewGroup& group, const AtsAccess& access, unsigned n) {
  PageWish wish;
  wish.address = access.address + (std::uint64_t{n} << kSmallestRangeBits);
  wish.write = access.kind == AccessKind::kWrite;
  wish.read = !wish.write;
  wish.execute = access.kind == AccessKind::kExecute;
  wish.privileged = access.tag.privileged;
  functions_[access.function]->counts.page_requests += access.counts ? 1U : 0U;
  return pages_->next_request(group.index, wish);
}

void AtsUnit::pages_written(Time when) {
  if (pages_ == nullptr) {
    return;
  }
  // While it drains, answers are still due.
  const bool is_answered = !pages_->is_enabled() && pages_->is_stopped();
  parked.for_each([&](Slot slot, const ParkedTransfer& transfer) {
    if (transfer.state == ParkedState::kWantsPage ||
        (transfer.state == ParkedState::kAwaitsPage && is_answered)) {
      release(slot, when);
    }
  });
}

void AtsUnit::page_is_there(std::uint16_t index, Time when) {
  parked.for_each([&](Slot slot, const ParkedTransfer& transfer) {
    if (transfer.state == ParkedState::kAwaitsPage && transfer.prg_index == index) {
      release(slot, when);
    }
  });
}

// ---- books

void AtsUnit::start_window() {
  parked.start_window(now());
  for (const std::unique_ptr<Function>& one : functions_) {
    if (one) {
      one->window = one->counts;
    }
  }
}

std::vector<AtsResult> AtsUnit::results(const std::string& device) const {
  std::vector<AtsResult> all;
  for (std::size_t index = 0; index < functions_.size(); ++index) {
    if (functions_[index] == nullptr) {
      continue;
    }
    AtsResult result = functions_[index]->counts;
    result -= functions_[index]->window;
    result.function = fmt::format("{}.{}", device, index);
    all.push_back(std::move(result));
  }
  return all;
}

unsigned AtsUnit::pending_invalidations() const {
  return sum_of<unsigned>(
      functions_, [](const auto& one) { return one ? one->atc.invalidations.pending() : 0U; });
}

std::vector<CheckResult> AtsUnit::checks(const std::string& device) const {
  const auto requests = sum_of<unsigned>(
      functions_, [](const auto& one) { return one ? one->atc.requests.size() : 0U; });
  const auto uses =
      sum_of<unsigned>(functions_, [](const auto& one) { return one ? one->atc.uses.size() : 0U; });
  const unsigned invalidations = pending_invalidations();
  return {
      {device + ": every Translation Request has ended", requests == 0,
       fmt::format("{} are out", requests)},
      {device + ": no translation is in use", uses == 0, fmt::format("{} are", uses)},
      {device + ": every invalidation is answered", invalidations == 0,
       fmt::format("{} wait", invalidations)},
      {device + ": no transfer waits for a translation", parked.empty(),
       fmt::format("{} wait", parked.size())},
  };
}

std::string AtsUnit::waiting() const {
  std::string text;
  const auto say = [&](std::size_t count, const char* what) {
    text += count == 0 ? "" : fmt::format("{}{} {}", text.empty() ? "" : ", ", count, what);
  };
  say(parked.count(ParkedState::kAwaitsReply), "transfers wait for Translation Completions");
  say(parked.count(ParkedState::kWantsRequest), "for room for a Translation Request");
  say(parked.count(ParkedState::kAwaitsPage), "for PRG Responses");
  say(parked.count(ParkedState::kWantsPage), "for credits for a Page Request");
  say(parked.count(ParkedState::kReady), "for their turn");
  say(pending_invalidations(), "invalidations wait for reads by their translations");
  return text;
}

}  // namespace flitwise
