// SPDX-License-Identifier: Apache-2.0
/// One walk of the translation structures as a state machine: it says which bytes it needs, is fed
/// with them, and ends in a translation or a fault. [IOM-2.1]
#pragma once

#include <array>
#include <cstdint>
#include <optional>

#include "ats/translation_entry.h"
#include "flitwise/ids.h"
#include "flitwise/tlp.h"
#include "iommu/capabilities.h"
#include "iommu/entries.h"
#include "iommu/fault.h"
#include "iommu/permission_table.h"
#include "tlp/message_use.h"

namespace flitwise {

/// The window into which writes are interrupts. [PAS-35]
constexpr bool is_interrupt_address(std::uint64_t address) {
  return address - kInterruptWindow < kInterruptWindowBytes;
}

/// What a request wants to do with the page.
struct AccessWish {
  bool read = false;
  bool write = false;
  bool execute = false;      ///< ER of the PASID prefix
  bool privileged = false;   ///< PMR of the PASID prefix
  bool zero_length = false;  ///< a read of no bytes
};

/// AND over all levels, each stage on its own. An IOTLB keeps this, so that a hit judges as the
/// walk did. [IOM-2.11]
struct Rights {
  bool user = true;           ///< U/S of the first stage
  bool first_write = true;    ///< R/W of the first stage
  bool execute = true;        ///< no XD in the first stage
  bool write_protect = true;  ///< WPE: R/W binds privileged requests too
  bool second_read = true;
  bool second_write = true;

  constexpr bool reaches(bool privileged) const { return user || privileged; }
  constexpr bool first_allows_write(bool privileged) const {
    return first_write || (privileged && !write_protect);
  }
  constexpr bool allows_read(bool privileged) const { return reaches(privileged) && second_read; }
  constexpr bool allows_write(bool privileged) const {
    return reaches(privileged) && first_allows_write(privileged) && second_write;
  }
  constexpr bool allows_execute(bool privileged) const {
    return allows_read(privileged) && execute;
  }
};

/// Fault of the first stage, in the order U/S, write, execute; kNone if it grants all. The same
/// below a second stage. [PAS-19, PAS-21, PAS-33]
constexpr FaultReason first_stage_fault(const Rights& rights, const AccessWish& wish) {
  if (!rights.reaches(wish.privileged)) {
    return FaultReason::kUserSupervisor;
  }
  if (wish.write && !rights.first_allows_write(wish.privileged)) {
    return FaultReason::kNoWrite;
  }
  return wish.execute && !rights.execute ? FaultReason::kNoExecute : FaultReason::kNone;
}

/// kSecondStagePermission if the second stage does not grant it; a zero-length read may go where
/// writes may: ZLR. [PAS-26, PAS-27]
constexpr FaultReason second_stage_fault(const Rights& rights, const AccessWish& wish) {
  const bool read_ok = rights.second_read || (wish.zero_length && rights.second_write);
  const bool is_denied = (wish.read && !read_ok) || (wish.write && !rights.second_write);
  return is_denied ? FaultReason::kSecondStagePermission : FaultReason::kNone;
}

/// Both, the first stage first.
constexpr FaultReason rights_fault(const Rights& rights, const AccessWish& wish) {
  const FaultReason first = first_stage_fault(rights, wish);
  return first != FaultReason::kNone ? first : second_stage_fault(rights, wish);
}

/// TTM of RTADDR. Legacy mode is known but not walked. [IOM-1.6]
enum class TableMode : std::uint8_t { kLegacy = 0, kScalable = 1, kReserved = 2, kAbort = 3 };

/// What RTADDR says.
struct RootTable {
  std::uint64_t address = 0;  ///< bits 63:12
  TableMode mode = TableMode::kScalable;
};

/// The last two are no input of page tables: they only check the context, and a translated request
/// the permission of its page where Secure ATS is on. [SEC-01]
enum class WalkKind : std::uint8_t {
  kUntranslated,
  kTranslationRequest,
  kTranslated,
  kPageRequest
};

struct WalkRequest {
  Bdf source;
  OptionalId<Pasid> pasid;
  std::uint64_t address = 0;
  WalkKind kind = WalkKind::kUntranslated;
  /// A Translation Request wishes to read, and to write unless its NW flag is honoured. [ATR-15]
  AccessWish wish;
  bool is_trusted = false;  ///< of a trusted domain, with the host's grant [DHI D19]
  /// One more translation of a Translation Request that has had its first: the same, and no request
  /// of its own in the counts.
  bool is_continued = false;

  bool is_translated() const { return kind == WalkKind::kTranslated; }
  /// By the IOTLB: it has an address to be translated.
  bool is_looked_up() const {
    return kind == WalkKind::kUntranslated || kind == WalkKind::kTranslationRequest;
  }
};

/// Where walks read.
enum class TableKind : std::uint8_t {
  kRoot,
  kContext,
  kPasidDirectory,
  kPasidTable,
  kFirstStage,
  kSecondStage,
  kPermission,
};
inline constexpr unsigned kTableKinds = 7;

/// What a walk needs of memory next.
struct MemoryAccess {
  enum class Kind : std::uint8_t {
    kRead,
    kSetBits,  ///< atomic: if the 8 bytes equal `expected`, they become expected | bits
  };
  Kind kind = Kind::kRead;
  TableKind table = TableKind::kRoot;
  std::uint8_t bytes = 8;     ///< 8, 16, 32 or 64, naturally aligned
  std::uint64_t address = 0;  ///< physical
  std::uint64_t expected = 0;
  std::uint64_t bits = 0;
};

/// A walk may begin at a table it need not find again: one entry of a paging-structure cache.
struct TableStart {
  unsigned level = 0;       ///< of the entries in the table
  std::uint64_t table = 0;  ///< physical; a guest address for the first stage of nested translation
  Rights rights;            ///< granted on the way to it
};

/// A finished second-stage walk, kept for further walks to the same guest page.
struct SecondStageLeaf {
  std::uint64_t page = 0;  ///< physical
  std::uint8_t page_bits = kPageBits;
  bool read = false, write = false;
  bool snoop = false;                          ///< SNP of the leaf
  bool is_transient = false;                   ///< TM
  bool write_needs_walk = false;               ///< its D bit is kept and not set yet
  std::uint64_t entry_address = 0, entry = 0;  ///< the leaf itself, to set D in it
  std::uint64_t guest = 0;                     ///< the address it was for
};

/// A finished translation, kept for further requests to the same page: an entry of the IOTLB.
struct PageTranslation {
  std::uint64_t page = 0;  ///< physical
  std::uint8_t page_bits = kPageBits;
  Rights rights;
  FaultReason fault = FaultReason::kNone;  ///< with CM: the page was not present [PAS-42]
  bool write_needs_walk = false;  ///< a D bit is kept and not set yet: no write by this translation
  bool is_global = false;         ///< G of the first-stage leaf
  bool is_snooped = false;        ///< SNP or PGSNP
  bool is_transient = false;      ///< TM: it may change without an invalidation [IOM-2.17]
  bool is_uncached = false;       ///< PCD of the first-stage leaf [IOM-2.17]
};

enum class WalkOutcome : std::uint8_t {
  kTranslated,  ///< or, for kTranslated and kPageRequest: the context allows it
  kInterrupt,   ///< not translated: a write into the interrupt window
  kFault,
};

/// Of a translation: its fault also says why an answer to a Translation Request has R=W=0
/// [IOM-7.2], its size is the smaller of both stages, or that of a hole. `page` is not set.
struct WalkResult : PageTranslation {
  WalkOutcome outcome = WalkOutcome::kFault;
  bool is_recorded = false;  ///< the fault goes into a record [PAS-36]
  bool is_absent = false;    ///< a page-table entry is not present: may be kept with CM [PAS-42]
  CplStatus answer = CplStatus::kSC;                  ///< to a Translation Request [IOM-7.1]
  std::uint64_t address = 0;                          ///< physical, of the byte asked for
  bool read = false, write = false, execute = false;  ///< granted to this request
  bool is_privileged = false;                         ///< the request counts as privileged
  std::uint16_t domain = 0;                           ///< DID
  TranslationType type = TranslationType::kNone;
  Pasid pasid{};  ///< the one used, that of the request or RID_PASID
  std::array<std::uint8_t, kTableKinds> reads{};  ///< by TableKind
  std::uint8_t updates = 0;                       ///< atomic updates of A and D bits

  unsigned total_reads() const;
};

class Walk {
 public:
  /// A finished walk of nothing; for arrays of walkers.
  Walk() = default;
  /// Begins at the root table. `offers` outlives the walk.
  Walk(const WalkRequest& request, const RootTable& root, const IommuCapabilities& offers);

  /// Skips what is known already. REQUIRES: nothing was supplied yet, and in this order.
  void use_context(const ContextEntry& context);
  /// REQUIRES: use_context() or a context that was read. [IOM-6.1]
  void use_pasid_entry(const PasidEntry& entry);
  /// A table of the first stage, or of the second where there is no first; nothing changes where
  /// the rights on the way to it do not reach, since the fault is that of the entry which lacks
  /// them. REQUIRES: the walk is about to read the top table, and the entry was cached for this
  /// domain, PASID and address. [IOM-3.2] [IOM-6.1]
  void use_table(const TableStart& start);
  /// Nested: a guest address is about to be translated by the second stage.
  std::optional<std::uint64_t> second_stage_input() const;
  /// Answers it from a cache; a leaf that still needs its D bit set changes nothing, and the walk
  /// goes on. REQUIRES: second_stage_input()
  void use_second_stage(const SecondStageLeaf& leaf);
  /// Ends the walk with a translation that is known. False, and nothing has changed, where rights
  /// are missing or a D bit has to be set: only memory can tell what to do then. REQUIRES: the walk
  /// is about to read the top table. [IOM-6.3]
  bool use_page(const PageTranslation& page);
  /// The page tables come next, from the top: use_table() and use_page() may be called.
  bool is_at_page_tables() const {
    return has_pasid_entry_ && total_page_reads() == 0 && step_ != Step::kPermission && !is_done();
  }
  /// The permission table comes next, nothing of it has been read: use_permission() may be called.
  bool is_at_permissions() const;
  /// A word of it that was read before, for this domain and address: true if it ends the walk. One
  /// that names a table shortens it; one that does not grant what is wished changes nothing.
  /// REQUIRES: is_at_permissions()
  bool use_permission(const PermissionWord& word);

  bool is_done() const { return step_ == Step::kDone; }
  /// What to read or update next; none when done. Changes nothing.
  std::optional<MemoryAccess> next() const;
  /// The bytes of next(): `bytes` of them; for kSetBits the 8 that were there before.
  void supply(const std::uint8_t* bytes);
  /// Memory answered next() with an error.
  void failed();

  /// REQUIRES: is_done()
  const WalkResult& result() const { return result_; }
  const WalkRequest& request() const { return request_; }

  // What may be cached; without CM never of a walk that met something not present. [IOM-6.2]
  bool has_context() const { return has_context_; }  ///< read or given, and valid
  const ContextEntry& context() const { return context_; }
  bool has_pasid_entry() const { return has_pasid_entry_; }
  const PasidEntry& pasid_entry() const { return pasid_entry_; }
  /// Pass-through ends at the PASID entry: there is no page to be found in the IOTLB.
  bool has_page() const {
    return has_pasid_entry_ && pasid_entry_.translation() != TranslationType::kPassThrough;
  }
  /// Tables passed since the start, the first read of them first; as use_table() takes them.
  unsigned table_count() const { return table_count_; }
  const TableStart& table(unsigned index) const { return tables_[index]; }
  /// Nested: second-stage walks that were finished, of first-stage tables and of the page.
  unsigned second_stage_count() const { return second_count_; }
  const SecondStageLeaf& second_stage(unsigned index) const { return seconds_[index]; }
  /// Words of the permission table that were read and are valid.
  unsigned permission_count() const { return permission_count_; }
  const PermissionWord& permission(unsigned index) const { return permissions_[index]; }

 private:
  enum class Step : std::uint8_t {
    kRoot,
    kContext,
    kPasidDirectory,
    kPasidTable,
    kFirstStage,
    kFirstStageUpdate,
    kSecondStage,
    kSecondStageUpdate,
    kSecondStageDirty,  ///< D of the page that holds a first-stage entry to be updated
    kPermission,
    kDone,
  };
  /// What the second stage translates.
  enum class Purpose : std::uint8_t { kInput, kTable, kPage };

  // Translation structures: walk.cpp.
  bool is_translation_request() const { return request_.kind == WalkKind::kTranslationRequest; }
  bool meets_interrupt_window() const;
  void on_root(const std::uint8_t* bytes);
  void on_context(const ContextEntry& context);
  FaultReason context_fault() const;
  void on_pasid_directory(const std::uint8_t* bytes);
  void on_pasid_entry(const PasidEntry& entry);
  FaultReason pasid_entry_fault() const;
  void read(Step step, TableKind table, std::uint64_t address, unsigned bytes);
  FaultReason access_fault() const;
  /// page_bits: of the hole, in the answer to a Translation Request.
  void fail(FaultReason reason, unsigned page_bits = kPageBits);

  // Paging: walk_first_stage.cpp, walk_second_stage.cpp.
  unsigned total_page_reads() const {
    return result_.reads[static_cast<unsigned>(TableKind::kFirstStage)] + 0U +
           result_.reads[static_cast<unsigned>(TableKind::kSecondStage)];
  }
  bool is_nested() const { return pasid_entry_.translation() == TranslationType::kNested; }
  void start_paging();
  void read_first_stage();
  void on_first_stage(std::uint64_t raw);
  AccessWish wish_to_reach() const;
  FaultReason first_stage_entry_fault() const;
  std::uint64_t first_stage_bits_to_set() const;
  void update_first_stage();
  void after_first_stage();
  void start_second_stage(std::uint64_t input, Purpose purpose);
  void read_second_stage();
  void on_second_stage(std::uint64_t raw);
  FaultReason second_stage_rights_fault() const;
  unsigned second_hole_bits() const;
  std::uint64_t second_stage_bits_to_set() const;
  void after_second_stage();
  void after_leaf();
  void after_set_bits(std::uint64_t before);
  void set_bits(Step step, TableKind table, std::uint64_t address, std::uint64_t expected,
                std::uint64_t bits);
  void finish(std::uint64_t address, unsigned page_bits);
  bool write_needs_walk() const;
  void remember_table(unsigned level, std::uint64_t table);
  void remember_second_stage(const SecondStageLeaf& leaf);

  void start_permission();
  void read_permission(unsigned level, std::uint64_t table);
  void on_permission(std::uint64_t raw);
  bool grants(const PagePermission& permission) const;

  WalkRequest request_;
  RootTable root_;
  const IommuCapabilities* offers_ = nullptr;
  Step step_ = Step::kDone;
  MemoryAccess access_;
  WalkResult result_;

  ContextEntry context_;
  PasidEntry pasid_entry_;
  bool has_context_ = false, has_pasid_entry_ = false;
  bool disables_fault_records_ = false;
  AccessWish wish_;  // as it counts, after RID_PRIV

  Rights path_rights_;  // on the way to the entry at hand
  Rights rights_;       // with that entry
  unsigned first_level_ = 0;
  std::uint64_t first_table_ = 0;
  std::uint64_t first_entry_address_ = 0;  // physical
  FirstStageEntry first_entry_;
  std::uint8_t first_page_bits_ = 0;
  std::uint64_t guest_address_ = 0;  // output of the first stage

  Purpose purpose_ = Purpose::kInput;
  unsigned second_level_ = 0;
  std::uint64_t second_input_ = 0, second_table_ = 0;
  SecondStageEntry second_entry_;
  bool second_path_read_ = true, second_path_write_ = true;  // on the way to the entry at hand
  bool second_read_ = true, second_write_ = true;            // with that entry
  SecondStageLeaf leaf_;
  SecondStageLeaf table_leaf_;           // where the current first-stage table lies
  bool must_walk_second_stage_ = false;  // what the cache said is out of date

  std::array<TableStart, kMaxLevels> tables_;
  unsigned table_count_ = 0;
  std::array<SecondStageLeaf, kMaxLevels + 1> seconds_;
  unsigned second_count_ = 0;

  std::array<PermissionWord, kMaxPermissionLevels> permissions_;
  std::uint8_t permission_count_ = 0;
  std::uint8_t permission_level_ = 0;  // of the word that is read
};

/// identity: of the domain that the request names, in full or by a handle; PASID, PMR and ER are
/// those of the handle's entry then, whatever the TLP claims. [IOM-2.1] [ATR-15] [DHI D17]
WalkRequest walk_request_of(const Tlp& tlp, const DeviceIdentity& identity);

/// The entry of a Translation Completion for a walk that ended in a translation. has_pasid: of the
/// domain that asked. stu: of its function; what is smaller is no access, and no access is told in
/// that size. [ATR-01] [ATR-24] [CFG-05]
/// is_from_cache: for a request that says so [ATR-31].
TranslationEntry translation_entry_of(const WalkResult& result, bool has_pasid, unsigned stu,
                                      bool is_from_cache = false);

}  // namespace flitwise
