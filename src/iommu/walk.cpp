// SPDX-License-Identifier: Apache-2.0
// The walk through root, context, PASID directory and PASID table, or through the permission table,
// and what faults mean.
#include "iommu/walk.h"

#include <numeric>

#include "ats/translation_request.h"
#include "tlp/header_layout.h"
#include "tlp/splitter.h"

namespace flitwise {

namespace {

/// Requests with a PASID are translated in the interrupt window, too. No open source settles it.
/// [IOM-3.3, LNK-9.22]
constexpr bool kUnverifiedPasidIsTranslated = true;

bool is_beyond_host(std::uint64_t address, const IommuCapabilities& offers) {
  return (address & bits_from(offers.host_address_bits)) != 0;
}

WalkKind kind_of(AddressType at) {
  return at == AddressType::kTranslationRequest ? WalkKind::kTranslationRequest
         : at == AddressType::kTranslated       ? WalkKind::kTranslated
                                                : WalkKind::kUntranslated;
}

}  // namespace

unsigned WalkResult::total_reads() const {
  return std::accumulate(reads.begin(), reads.end(), 0U);
}

Walk::Walk(const WalkRequest& request, const RootTable& root, const IommuCapabilities& offers)
    : request_(request), root_(root), offers_(&offers), wish_(request.wish) {
  const bool is_write = wish_.write && !wish_.read;
  if (meets_interrupt_window() && !is_translation_request() && is_write) {
    result_.outcome = WalkOutcome::kInterrupt;  // [PAS-35]
    return;
  }
  if (root_.mode == TableMode::kLegacy && request_.kind == WalkKind::kPageRequest) {
    fail(FaultReason::kPageRequestInLegacyMode);
  } else if (root_.mode == TableMode::kLegacy && request_.pasid.has_value()) {
    fail(FaultReason::kPasidInLegacyMode);
  } else if (root_.mode != TableMode::kScalable || is_beyond_host(root_.address, *offers_)) {
    fail(FaultReason::kRootAddressInvalid);
  } else {
    read(Step::kRoot, TableKind::kRoot, root_.address + request_.source.bus() * kRootEntryBytes,
         kRootEntryBytes);
  }
}

// Nothing in the window is translated, but for what PASIDs are for. [PAS-35] [IOM-3.3]
bool Walk::meets_interrupt_window() const {
  const bool has_pasid = request_.pasid.has_value() && kUnverifiedPasidIsTranslated;
  const bool is_input =
      is_translation_request() || (request_.kind == WalkKind::kUntranslated && !has_pasid);
  return is_input && is_interrupt_address(request_.address);
}

void Walk::read(Step step, TableKind table, std::uint64_t address, unsigned bytes) {
  step_ = step;
  access_.kind = MemoryAccess::Kind::kRead;
  access_.table = table;
  access_.address = address;
  access_.bytes = static_cast<std::uint8_t>(bytes);
}

std::optional<MemoryAccess> Walk::next() const {
  return is_done() ? std::nullopt : std::optional<MemoryAccess>(access_);
}

void Walk::supply(const std::uint8_t* bytes) {
  if (access_.kind == MemoryAccess::Kind::kSetBits) {
    ++result_.updates;
    after_set_bits(load_u64(bytes));
    return;
  }
  ++result_.reads[static_cast<unsigned>(access_.table)];
  switch (step_) {
    case Step::kRoot: on_root(bytes); break;
    case Step::kContext: on_context({load_u64(bytes), load_u64(bytes + 8)}); break;
    case Step::kPasidDirectory: on_pasid_directory(bytes); break;
    case Step::kPasidTable: on_pasid_entry(decode_pasid(bytes, *offers_)); break;
    case Step::kFirstStage: on_first_stage(load_u64(bytes)); break;
    case Step::kSecondStage: on_second_stage(load_u64(bytes)); break;
    case Step::kPermission: on_permission(load_u64(bytes)); break;
    default: break;  // not read
  }
}

void Walk::failed() {
  if (access_.kind == MemoryAccess::Kind::kRead) {
    ++result_.reads[static_cast<unsigned>(access_.table)];
  }
  fail(access_fault());
}

FaultReason Walk::access_fault() const {
  if (step_ == Step::kFirstStage && first_level_ == pasid_entry_.first_stage_levels()) {
    return FaultReason::kFirstStageTopAccess;
  }
  if (step_ == Step::kSecondStage && second_level_ == pasid_entry_.second_stage_levels()) {
    return FaultReason::kSecondStagePointerInvalid;
  }
  using R = FaultReason;
  constexpr FaultReason kByStep[] = {R::kRootAccess,
                                     R::kContextAccess,
                                     R::kPasidDirectoryAccess,
                                     R::kPasidEntryAccess,
                                     R::kFirstStageAccess,
                                     R::kFirstStageUpdateFailed,
                                     R::kSecondStageAccess,
                                     R::kSecondStageAccess,
                                     R::kSecondStageAccess,
                                     R::kPermissionAccess,
                                     R::kNone};
  return kByStep[static_cast<unsigned>(step_)];
}

void Walk::fail(FaultReason reason, unsigned page_bits) {
  step_ = Step::kDone;
  result_.fault = reason;
  result_.outcome = WalkOutcome::kFault;
  result_.is_recorded = !(disables_fault_records_ && is_qualified(reason));
  result_.read = result_.write = result_.execute = false;
  result_.page_bits = static_cast<std::uint8_t>(page_bits);
  if (!is_translation_request()) {
    return;
  }
  result_.answer = ats_answer(reason);
  if (result_.answer == CplStatus::kSC) {
    result_.outcome = WalkOutcome::kTranslated;
    result_.is_recorded = result_.is_recorded && reason == FaultReason::kInterruptRange;
  }
}

void Walk::on_root(const std::uint8_t* bytes) {
  const unsigned devfn = request_.source.value & 0xffU;
  const TablePointer entry = decode_root(bytes, devfn, *offers_);
  if (!entry.is_present) {
    fail(FaultReason::kRootNotPresent);  // [PAS-04]
  } else if (entry.has_reserved) {
    fail(FaultReason::kRootReserved);  // [PAS-05]
  } else {
    read(Step::kContext, TableKind::kContext, entry.table + (devfn & 0x7fU) * kContextEntryBytes,
         kContextEntryBytes);
  }
}

void Walk::use_context(const ContextEntry& context) {
  if (step_ == Step::kRoot) {
    on_context(context);
  }
}

void Walk::on_context(const ContextEntry& context) {
  context_ = context;
  disables_fault_records_ = context.disables_fault_records();
  const FaultReason reason = context_fault();
  if (reason != FaultReason::kNone) {
    fail(reason);
    return;
  }
  has_context_ = true;
  // [PAS-01] [PAS-02]
  const std::uint32_t rid_pasid = offers_->rid_pasid ? context.rid_pasid() : 0;
  result_.pasid = request_.pasid.value_or(Pasid{rid_pasid});
  const bool is_privileged =
      request_.pasid.has_value() ? wish_.privileged : context.rid_is_privileged();
  wish_.privileged = is_privileged;
  wish_.execute = wish_.execute && request_.pasid.has_value();
  result_.is_privileged = wish_.privileged;
  if (meets_interrupt_window()) {
    fail(FaultReason::kInterruptRange);
    return;
  }
  const bool is_translated = request_.kind == WalkKind::kTranslated && !offers_->secure_ats;
  if (is_translated || request_.kind == WalkKind::kPageRequest) {
    step_ = Step::kDone;
    result_.outcome = WalkOutcome::kTranslated;
    result_.address = request_.address;
    return;
  }
  if (!request_.pasid.has_value() && rid_pasid >= context.pasid_limit()) {
    fail(FaultReason::kRidPasidInvalid);
    return;
  }
  read(Step::kPasidDirectory, TableKind::kPasidDirectory,
       context.pasid_directory() + (to_int(result_.pasid) >> 6U) * kPasidDirectoryEntryBytes,
       kPasidDirectoryEntryBytes);
}

/// In this order: present, reserved bits, device TLB, page requests, PASID, its size. [IOM-3.2]
FaultReason Walk::context_fault() const {
  if (!context_.is_present()) {
    return FaultReason::kContextNotPresent;  // [PAS-06]
  }
  if (context_.has_reserved(*offers_)) {
    return FaultReason::kContextReserved;  // [PAS-07]
  }
  if (request_.kind != WalkKind::kUntranslated && !context_.enables_device_tlb()) {
    return FaultReason::kDeviceTlbDisabled;  // [PAS-08] [SEC-07]
  }
  if (request_.kind == WalkKind::kPageRequest && !context_.enables_page_requests()) {
    return FaultReason::kPageRequestDisabled;  // [PRI-18]
  }
  if (!request_.pasid.has_value()) {
    return FaultReason::kNone;
  }
  if (!context_.enables_pasid() || offers_->pasid_bits == 0) {
    return FaultReason::kPasidDisabled;  // [PAS-09]
  }
  const std::uint32_t pasid = to_int(*request_.pasid);
  const bool is_too_large = pasid >= context_.pasid_limit() || pasid >> offers_->pasid_bits != 0;
  return is_too_large ? FaultReason::kPasidTooLarge : FaultReason::kNone;  // [PAS-03]
}

void Walk::on_pasid_directory(const std::uint8_t* bytes) {
  const TablePointer entry = decode_pasid_directory(bytes, *offers_);
  disables_fault_records_ = disables_fault_records_ || entry.disables_fault_records;
  if (!entry.is_present) {
    fail(FaultReason::kPasidDirectoryNotPresent);  // [PAS-10]
  } else if (entry.has_reserved) {
    fail(FaultReason::kPasidDirectoryReserved);
  } else {
    read(Step::kPasidTable, TableKind::kPasidTable,
         entry.table + (to_int(result_.pasid) & 0x3fU) * kPasidEntryBytes, kPasidEntryBytes);
  }
}

void Walk::use_pasid_entry(const PasidEntry& entry) {
  if (step_ == Step::kPasidDirectory) {
    on_pasid_entry(entry);
  }
}

void Walk::on_pasid_entry(const PasidEntry& entry) {
  pasid_entry_ = entry;
  disables_fault_records_ = disables_fault_records_ || entry.disables_fault_records();
  pasid_entry_.q0 |= bit_if(disables_fault_records_, 1);  // a cached entry stands for both
  const FaultReason reason = pasid_entry_fault();
  if (reason != FaultReason::kNone) {
    fail(reason);
    return;
  }
  has_pasid_entry_ = true;
  result_.domain = entry.domain();
  result_.type = entry.translation();
  path_rights_.write_protect = entry.write_protect();
  rights_ = path_rights_;
  if (request_.kind == WalkKind::kTranslated) {
    start_permission();
  } else {
    start_paging();
  }
}

FaultReason Walk::pasid_entry_fault() const {
  if (!pasid_entry_.is_present()) {
    return FaultReason::kPasidEntryNotPresent;  // [PAS-11]
  }
  if (pasid_entry_.has_reserved(*offers_)) {
    return FaultReason::kPasidEntryReserved;
  }
  if (!pasid_entry_.is_valid(*offers_)) {
    return FaultReason::kPasidEntryInvalid;  // [PAS-12] [PAS-13] [PAS-14]
  }
  if (!pasid_entry_.has_first_stage() || request_.kind == WalkKind::kTranslated) {
    return FaultReason::kNone;
  }
  if (wish_.execute && !pasid_entry_.enables_execute()) {
    return FaultReason::kExecuteDisabled;  // [IOM-2.12]
  }
  const bool is_denied = wish_.privileged && !pasid_entry_.enables_supervisor();
  return is_denied ? FaultReason::kSupervisorDisabled : FaultReason::kNone;  // [IOM-2.11]
}

// The permission table of the domain, for a translated request. [SEC-01]

// A domain without a table has no permissions. [SEC-08]
void Walk::start_permission() {
  if (pasid_entry_.has_permission_table() && pasid_entry_.is_trusted() != request_.is_trusted) {
    fail(FaultReason::kPermissionTrust);
  } else if (!pasid_entry_.has_permission_table() || is_beyond_host(request_.address, *offers_)) {
    fail(FaultReason::kPermissionDenied);
  } else {
    read_permission(permission_levels(offers_->host_address_bits), pasid_entry_.permission_table());
  }
}

void Walk::read_permission(unsigned level, std::uint64_t table) {
  permission_level_ = static_cast<std::uint8_t>(level);
  read(Step::kPermission, TableKind::kPermission,
       table + permission_word_offset(request_.address, level), kPageEntryBytes);
}

bool Walk::is_at_permissions() const {
  return step_ == Step::kPermission &&
         result_.reads[static_cast<unsigned>(TableKind::kPermission)] == 0;
}

bool Walk::use_permission(const PermissionWord& word) {
  if (!word.is_leaf()) {
    read_permission(word.level - 1U, word.table());
    return false;
  }
  const PagePermission permission = word.of(request_.address);
  if (!grants(permission)) {
    return false;
  }
  step_ = Step::kDone;
  result_.outcome = WalkOutcome::kTranslated;
  result_.address = request_.address;
  result_.read = permission.read;
  result_.write = permission.write;
  return true;
}

void Walk::on_permission(std::uint64_t raw) {
  const PermissionWord word{raw, permission_level_};
  if (!word.is_present()) {
    fail(FaultReason::kPermissionDenied);
    return;
  }
  if (word.has_reserved(*offers_)) {
    fail(FaultReason::kPermissionReserved);
    return;
  }
  permissions_[permission_count_++] = word;
  if (!use_permission(word) && word.is_leaf()) {
    fail(FaultReason::kPermissionDenied);
  }
}

/// A read of no bytes may go where writes may, with ZLR.
bool Walk::grants(const PagePermission& permission) const {
  const bool reads = permission.read || (permission.write && request_.wish.zero_length);
  return (!request_.wish.read || reads) && (!request_.wish.write || permission.write);
}

// ---- from TLPs to walks, and back to entries

WalkRequest walk_request_of(const Tlp& tlp, const DeviceIdentity& identity) {
  WalkRequest request;
  request.source = identity.bdf;
  request.pasid = identity.pasid;
  request.kind = kind_of(tlp.at);
  const bool is_translation = request.kind == WalkKind::kTranslationRequest;
  request.address = is_translation ? tlp.address & ~kCacheSource : tlp.address;
  request.wish.read = tlp.type == TlpType::kMRd || is_atomic(tlp.type);
  request.wish.write =
      is_translation ? (tlp.processing_hint >> kNoWriteBit & 1U) == 0 : has_data(tlp.type);
  request.wish.execute = identity.pasid.has_value() && identity.execute_requested;
  request.wish.privileged = identity.pasid.has_value() && identity.privileged_mode_requested;
  request.wish.zero_length = is_zero_length_read(tlp);
  return request;
}

// What its tables say of a page beside its rights. [IOM-2.17]
TranslationEntry translation_entry_of(const WalkResult& result, bool has_pasid, unsigned stu,
                                      bool is_from_cache) {
  if (result.page_bits < stu_bits(stu)) {
    return no_access_entry(stu);
  }
  TranslationEntry entry;
  entry.size_bits = result.page_bits;
  entry.translated = result.address & ~((std::uint64_t{1} << result.page_bits) - 1);
  entry.read = result.read;
  entry.write = result.write;
  entry.execute = has_pasid && result.execute;
  entry.privileged = has_pasid && result.is_privileged;
  if (!entry.has_access()) {
    return entry;
  }
  entry.global = has_pasid && result.is_global;
  entry.clears_no_snoop = result.is_snooped;
  entry.forbids_cache = is_from_cache && result.is_uncached;
  if (result.is_transient) {
    entry.untranslated_only = true;
    entry.translated = 0;  // which nobody may use
  }
  return entry;
}

}  // namespace flitwise
