// SPDX-License-Identifier: Apache-2.0
#include "hca/pretranslation.h"

#include <algorithm>

#include "common/page.h"
#include "flitwise/error.h"

namespace flitwise {
namespace {

constexpr std::uint8_t bit_of(unsigned structure) {
  return static_cast<std::uint8_t>(1U << structure);
}

}  // namespace

Pretranslation::Pretranslation(const PretranslationSetup& setup)
    : setup_(setup),
      functions_(setup.functions.size()),
      requests_(setup.requests),
      slots_(setup.requests) {
  for (std::size_t i = 0; i < functions_.size(); ++i) {
    functions_[i].setup = setup.functions[i];
  }
}

// The register has the guest's address, and what is under way for it is of no use any more. Its
// open uses stay.
void Pretranslation::give_up(Structure& structure) {
  if (structure.record == Record::kPending) {
    Request& request = requests_[structure.request];
    const auto place =
        static_cast<unsigned>(&structure - functions_[request.request.function].structures.data());
    request.wanted &= static_cast<std::uint8_t>(~bit_of(place));
  }
  structure.record = Record::kNone;
  structure.csr.address = structure.guest_address;
  structure.csr.is_pretranslated = false;
  structure.csr.is_valid = structure.csr.bytes > 0;
}

bool Pretranslation::write(std::uint32_t function, StaticStructure structure, std::uint64_t address,
                           std::uint64_t bytes) {
  if (bytes > 0 && address + (bytes - 1) < address) {
    return false;
  }
  Structure& one = of(function, structure);
  one.guest_address = address;
  one.csr.bytes = bytes;
  give_up(one);
  one.retry_at = one.pause = Time{};
  one.is_left = false;
  return true;
}

void Pretranslation::allow(std::uint32_t function, StaticStructure structure, bool is_allowed) {
  Structure& one = of(function, structure);
  one.csr.allows_translation = is_allowed;
  if (!is_allowed) {
    give_up(one);
  }
}

void Pretranslation::begin_anew(Function& function) {
  for (Structure& structure : function.structures) {
    give_up(structure);
    structure.retry_at = structure.pause = Time{};
    structure.is_left = false;
  }
}

void Pretranslation::start(std::uint32_t function) {
  begin_anew(functions_[function]);
  functions_[function].is_running = true;
}

void Pretranslation::stop(std::uint32_t function) {
  begin_anew(functions_[function]);
  functions_[function].is_running = false;
}

void Pretranslation::set_enabled(bool is_enabled) {
  is_enabled_ = is_enabled;
  for (Function& function : functions_) {
    begin_anew(function);
  }
}

void Pretranslation::set_pasid(std::uint32_t function, OptionalId<Pasid> pasid) {
  functions_[function].setup.pasid = pasid;
  begin_anew(functions_[function]);
}

// It lies in one page of the size that its function has, and nothing is known or asked of it.
bool Pretranslation::is_candidate(const Function& function, const Structure& structure) {
  const StructureRegister& csr = structure.csr;
  const std::uint64_t offset =
      structure.guest_address & PageRange::mask_of(function.setup.page_bits);
  const std::uint64_t page = std::uint64_t{1} << function.setup.page_bits;
  return csr.allows_translation && csr.bytes > 0 && csr.bytes <= page - offset &&
         structure.record == Record::kNone && !structure.is_left;
}

// While accesses by an old translation are under way there is no new one, so that an invalidation
// knows which to wait for.
bool Pretranslation::wants_request(const Function& function, const Structure& structure, Time now) {
  return is_candidate(function, structure) && structure.uses == 0 && structure.retry_at <= now;
}

template <class Visit>
void Pretranslation::for_each_wish(Visit visit) const {
  for (std::uint32_t f = 0; f < functions_.size(); ++f) {
    for (const Structure& structure : functions_[f].structures) {
      const bool is_cleared_for_good = structure.is_left && !structure.csr.is_valid;
      if (is_running(f) && (is_cleared_for_good || is_candidate(functions_[f], structure))) {
        visit(structure);
      }
    }
  }
}

bool Pretranslation::has_wishes() const {
  bool has_some = false;
  for_each_wish([&](const Structure& /*structure*/) { has_some = true; });
  return has_some;
}

Time Pretranslation::next_retry(Time now) const {
  Time next = Time::never();
  for_each_wish([&](const Structure& structure) {
    next = structure.retry_at > now ? std::min(next, structure.retry_at) : next;
  });
  return next;
}

std::optional<PretranslationRequest> Pretranslation::next(Time now) {
  for (std::uint32_t f = 0; f < functions_.size(); ++f) {
    if (!is_running(f)) {
      continue;
    }
    for (unsigned s = 0; s < kStaticStructures; ++s) {
      Structure& structure = functions_[f].structures[s];
      if (structure.is_left && !structure.csr.is_valid) {
        give_up(structure);
      }
      if (slots_.free() > 0 && wants_request(functions_[f], structure, now)) {
        return ask(f, s, now);
      }
    }
  }
  return std::nullopt;
}

PretranslationRequest Pretranslation::ask(std::uint32_t function, unsigned first, Time now) {
  const Slot slot = slots_.take();
  PretranslationRequest request{slot, function, 0, 0};
  for (unsigned s = first; s < kStaticStructures; ++s) {
    Structure& structure = functions_[function].structures[s];
    const std::uint64_t page = structure.guest_address & kPageAddress;
    if (wants_request(functions_[function], structure, now) &&
        (s == first || page == request.address)) {
      request.address = page;
      request.structures |= bit_of(s);
      structure.record = Record::kPending;
      structure.request = slot;
    }
  }
  requests_[slot] = {request, request.structures};
  ++counts_.requests;
  return request;
}

// The request is over: `apply` takes what came for each structure that still wants it, or says that
// it is of no use.
template <class Apply>
bool Pretranslation::close(std::uint32_t id, Time now, Apply apply) {
  if (id >= requests_.size() || !slots_.used().contains(id)) {
    return false;
  }
  slots_.give_back(id);
  const Request& over = requests_[id];
  for (unsigned s = 0; s < kStaticStructures; ++s) {
    Structure& structure = functions_[over.request.function].structures[s];
    if ((over.wanted & bit_of(s)) == 0) {
      counts_.discarded += over.request.structures >> s & 1U;
    } else if (apply(structure)) {
      structure.record = Record::kInUse;
      structure.pause = Time{};
    } else {
      ++counts_.failures;
      structure.record = Record::kNone;
      if (!structure.csr.is_valid) {
        give_up(structure);  // users of a cleared one go on untranslated
      }
      structure.pause = structure.pause == Time{}
                            ? setup_.first_retry
                            : std::min(Time{2 * structure.pause.fs}, setup_.longest_retry);
      structure.retry_at = now + structure.pause;
    }
  }
  return true;
}

bool Pretranslation::answer(std::uint32_t id, const TranslationEntry& translation, Time now) {
  return close(id, now, [&](Structure& structure) {
    const PageRange range = PageRange::around(requests_[id].request.address, translation.size_bits);
    return take(structure, range, translation);
  });
}

bool Pretranslation::fail(std::uint32_t id, Time now) {
  return close(id, now, [](const Structure&) { return false; });
}

// Users read and write by it, all of it. [EP-2] [EP-4]
bool Pretranslation::take(Structure& structure, const PageRange& range,
                          const TranslationEntry& translation) {
  const AddressSpan guest = structure.guest();
  if (!translation.read || !translation.write || translation.untranslated_only ||
      translation.size_bits >= kWholeSpaceBits || !range.contains(guest.first) ||
      !range.contains(guest.last)) {
    return false;
  }
  structure.csr.address = translation.translated | (guest.first & range.offset_mask());
  structure.csr.is_pretranslated = structure.csr.is_valid = true;
  structure.used = guest;
  return true;
}

Pretranslation::Invalidated Pretranslation::invalidate(std::uint32_t function, unsigned itag,
                                                       const PageRange& range,
                                                       const InvalidationScope& scope) {
  FLITWISE_CHECK(!is_waiting(function, itag), "an ITag is used twice");
  Function& own = functions_[function];
  Invalidated result;
  for (unsigned s = 0; s < kStaticStructures && scope.covers(own.setup.pasid); ++s) {
    Structure& structure = own.structures[s];
    if (structure.record != Record::kNone && structure.guest().overlaps(range)) {
      ++result.structures;
      const bool clears = setup_.clears && structure.csr.is_pretranslated;
      const bool was_cleared = !structure.csr.is_valid;
      structure.is_left = !setup_.retranslates;
      give_up(structure);
      if (clears || was_cleared) {
        structure.csr.address = 0;
        structure.csr.is_valid = false;
      }
    }
    if (structure.uses > 0 && structure.used.overlaps(range)) {
      own.waiting[itag] |= bit_of(s);
    }
  }
  ++(result.structures > 0 ? counts_.invalidations_hit : counts_.invalidations_missed);
  result.is_complete = own.waiting[itag] == 0;
  return result;
}

StructureAccess Pretranslation::begin(std::uint32_t function, StaticStructure structure,
                                      std::uint64_t offset, std::uint64_t bytes) {
  using Verdict = StructureAccess::Verdict;
  Structure& one = of(function, structure);
  const StructureAccess access = access_of(one.csr, offset, bytes);
  const bool is_translated = access.at == AddressType::kTranslated;
  one.uses += is_translated ? 1 : 0;
  ++(access.verdict == Verdict::kFault  ? counts_.faults
     : access.verdict == Verdict::kWait ? counts_.waits
     : is_translated                    ? counts_.translated
                                        : counts_.untranslated);
  return access;
}

std::uint32_t Pretranslation::end(std::uint32_t function, StaticStructure structure) {
  Structure& one = of(function, structure);
  FLITWISE_CHECK(one.uses > 0, "a translated access to a structure ends twice");
  std::uint32_t complete = 0;
  if (--one.uses > 0) {
    return complete;
  }
  auto& waiting = functions_[function].waiting;
  for (unsigned itag = 0; itag < waiting.size(); ++itag) {
    const std::uint8_t others =
        waiting[itag] & static_cast<std::uint8_t>(~bit_of(static_cast<unsigned>(structure)));
    complete |= waiting[itag] != 0 && others == 0 ? 1U << itag : 0U;
    waiting[itag] = others;
  }
  return complete;
}

}  // namespace flitwise
