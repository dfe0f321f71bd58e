// SPDX-License-Identifier: Apache-2.0
/// Pre-translation of the static structures of a host channel adapter by its firmware (EPS): which
/// translations it asks for, what an answer and an invalidation change, and the record of what is
/// translated. [EP-1] to [EP-13]
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "ats/translation_cache.h"
#include "common/slot_list.h"
#include "flitwise/time.h"
#include "hca/structure_registers.h"

namespace flitwise {

struct PretranslationSetup {
  struct Function {
    unsigned page_bits = kSmallestRangeBits;  ///< 12..63: a structure has to lie in one such page
    OptionalId<Pasid> pasid;                  ///< of its requests
  };
  std::vector<Function> functions{1};  ///< the physical one first
  bool clears = false;  ///< an invalidation takes the address away, rather than restore the guest's
  bool retranslates = true;              ///< what an invalidation took [EP-9]
  Time first_retry = Time::from_us(10);  ///< after a failure; doubles with each [EP-6]
  Time longest_retry = Time::from_us(1'000);
  unsigned requests = 32;  ///< outstanding, from 1 on
};

/// A Translation Request of one STU. One may serve several structures that begin in one page of
/// 4 KiB. [EP-3]
struct PretranslationRequest {
  std::uint32_t id = 0;
  std::uint32_t function = 0;
  std::uint64_t address = 0;    ///< of the guest, a multiple of 4 KiB
  std::uint8_t structures = 0;  ///< bits by StaticStructure
};

struct PretranslationCounts {
  std::uint64_t translated = 0, untranslated = 0;  ///< accesses; the first asked for no translation
  std::uint64_t waits = 0, faults = 0;             ///< accesses that found no address; beyond it
  std::uint64_t requests = 0;
  std::uint64_t failures = 0, discarded = 0;  ///< of single structures in answers
  std::uint64_t invalidations_hit = 0, invalidations_missed = 0;
};

/// Rules without a clock: time comes in as a value. Nothing is allocated after construction.
/// Functions and structures that are named have to exist.
class Pretranslation {
 public:
  /// Of one structure in the translation record.
  enum class Record : std::uint8_t { kNone, kPending, kInUse };

  explicit Pretranslation(const PretranslationSetup& setup);

  // What the host and the driver do. Each gives up the translation that a register has, and an
  // answer that is under way.
  /// A guest address, always. False, and nothing has changed, where the structure would reach
  /// beyond the address space. [EP-10]
  bool write(std::uint32_t function, StaticStructure structure, std::uint64_t address,
             std::uint64_t bytes);
  void allow(std::uint32_t function, StaticStructure structure, bool is_allowed);
  /// The driver is there: a boot. [EP-1] [EP-13]
  void start(std::uint32_t function);
  /// Of the accesses and requests of its structures. Gives up as start() does.
  void set_pasid(std::uint32_t function, OptionalId<Pasid> pasid);
  /// It is unloaded, or the function is reset or disabled. Accesses that are under way still end().
  /// [EP-10] [EP-13]
  void stop(std::uint32_t function);
  /// The physical function takes the adapter out of service, or back. [HP-9]
  void set_enabled(bool is_enabled);
  bool is_running(std::uint32_t function) const { return is_enabled_ && is_started(function); }
  /// Its driver is there, whether the adapter is in service or not.
  bool is_started(std::uint32_t function) const { return functions_[function].is_running; }

  // What the firmware does.
  /// The next request that may leave now. Sets addresses anew that are cleared and stay
  /// untranslated. [EP-1] [EP-2] [EP-7]
  std::optional<PretranslationRequest> next(Time now);
  /// Structures are left that next() may ask for, now or later.
  bool has_wishes() const;
  /// The end of the first pause that ends behind `now`; never: there is none. [EP-6]
  Time next_retry(Time now) const;
  /// As many requests are out as may be.
  bool is_full() const { return slots_.free() == 0; }
  /// The answer to a request: what a naturally aligned range is translated to. False: there is no
  /// such request. [EP-4] [EP-6]
  bool answer(std::uint32_t id, const TranslationEntry& translation, Time now);
  /// No answer with a translation: UR, CA or time-out. False: as above. [EP-6]
  bool fail(std::uint32_t id, Time now);
  struct Invalidated {
    unsigned structures = 0;   ///< in the record: now untranslated, or their answer discarded
    bool is_complete = false;  ///< else end() names the ITag
  };
  /// REQUIRES: itag < 32 and not is_waiting(). [EP-7] [EP-8]
  Invalidated invalidate(std::uint32_t function, unsigned itag, const PageRange& range,
                         const InvalidationScope& scope);
  bool is_waiting(std::uint32_t function, unsigned itag) const {
    return functions_[function].waiting[itag] != 0;
  }

  // What users of structures do.
  /// A translated access is under way until end().
  StructureAccess begin(std::uint32_t function, StaticStructure structure, std::uint64_t offset,
                        std::uint64_t bytes);
  /// One translated access is done. The ITags of invalidations that had waited for it and are
  /// complete now, as bits. REQUIRES: open_uses() > 0.
  std::uint32_t end(std::uint32_t function, StaticStructure structure);
  unsigned open_uses(std::uint32_t function, StaticStructure structure) const {
    return of(function, structure).uses;
  }

  std::uint64_t guest_address(std::uint32_t function, StaticStructure structure) const {
    return of(function, structure).guest_address;
  }
  const StructureRegister& at(std::uint32_t function, StaticStructure structure) const {
    return of(function, structure).csr;
  }
  Record record(std::uint32_t function, StaticStructure structure) const {
    return of(function, structure).record;
  }
  std::uint32_t functions() const { return static_cast<std::uint32_t>(functions_.size()); }
  const PretranslationCounts& counts() const { return counts_; }

 private:
  struct Structure {
    StructureRegister csr;
    std::uint64_t guest_address = 0;
    Record record = Record::kNone;
    bool is_left = false;  ///< an invalidation took it for good: until boot or a write
    Slot request = kNoSlot;
    Time retry_at, pause;    ///< pause: before that
    std::uint32_t uses = 0;  ///< translated accesses under way, all by one translation
    AddressSpan used;        ///< what they were allowed to touch
    AddressSpan guest() const { return {guest_address, guest_address + (csr.bytes - 1)}; }
  };
  struct Function {
    PretranslationSetup::Function setup;
    bool is_running = false;
    std::array<Structure, kStaticStructures> structures;
    std::array<std::uint8_t, 32> waiting{};  ///< by ITag: structures whose uses it waits for
  };
  struct Request {
    PretranslationRequest request;
    std::uint8_t wanted = 0;  ///< structures whose answer is not given up
  };

  const Structure& of(std::uint32_t function, StaticStructure structure) const {
    return functions_[function].structures[static_cast<unsigned>(structure)];
  }
  Structure& of(std::uint32_t function, StaticStructure structure) {
    return functions_[function].structures[static_cast<unsigned>(structure)];
  }
  template <class Visit>
  void for_each_wish(Visit visit) const;
  static bool is_candidate(const Function& function, const Structure& structure);
  static bool wants_request(const Function& function, const Structure& structure, Time now);
  PretranslationRequest ask(std::uint32_t function, unsigned structure, Time now);
  void give_up(Structure& structure);
  void begin_anew(Function& function);
  bool take(Structure& structure, const PageRange& range, const TranslationEntry& translation);
  template <class Apply>
  bool close(std::uint32_t id, Time now, Apply apply);

  PretranslationSetup setup_;
  std::vector<Function> functions_;
  std::vector<Request> requests_;
  SlotPool slots_;
  bool is_enabled_ = true;
  PretranslationCounts counts_;
};
constexpr const char* name_of(Pretranslation::Record record) {
  constexpr const char* kNames[] = {"none", "pending", "in_use"};
  return name_in(kNames, record);
}

}  // namespace flitwise
