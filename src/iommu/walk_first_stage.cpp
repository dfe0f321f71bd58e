// SPDX-License-Identifier: Apache-2.0
// The walk through the page tables of the first stage, accessed and dirty bits, and its end.
#include "iommu/walk.h"

namespace flitwise {

void Walk::start_paging() {
  const std::uint64_t address = request_.address;
  if (pasid_entry_.translation() == TranslationType::kPassThrough) {
    if ((address & bits_from(pasid_entry_.second_stage_bits(*offers_))) != 0) {
      fail(FaultReason::kAddressTooHigh);  // [PAS-15]
    } else {
      finish(address, kPageBits);
    }
    return;
  }
  if (!pasid_entry_.has_first_stage()) {
    start_second_stage(address, Purpose::kInput);
    return;
  }
  first_level_ = pasid_entry_.first_stage_levels();
  first_table_ = pasid_entry_.first_stage_table();
  if (!is_canonical(address, first_level_)) {
    fail(FaultReason::kNotCanonical);  // [PAS-16] [PAS-18]
    return;
  }
  remember_table(first_level_, first_table_);
  read_first_stage();
}

void Walk::use_table(const TableStart& start) {
  if (is_done() || rights_fault(start.rights, wish_to_reach()) != FaultReason::kNone) {
    return;
  }
  path_rights_ = rights_ = start.rights;
  table_count_ = 0;
  if (pasid_entry_.has_first_stage()) {
    first_level_ = start.level;
    first_table_ = start.table;
    remember_table(start.level, start.table);
    read_first_stage();
    return;
  }
  second_level_ = start.level;
  second_table_ = start.table;
  second_path_read_ = start.rights.second_read;
  second_path_write_ = start.rights.second_write;
  remember_table(start.level, start.table);
  read_second_stage();
}

void Walk::remember_table(unsigned level, std::uint64_t table) {
  if (table_count_ < kMaxLevels) {
    tables_[table_count_++] = {level, table, path_rights_};
  }
}

// First stage.

void Walk::read_first_stage() {
  const std::uint64_t address = first_table_ + entry_offset(request_.address, first_level_);
  if (is_nested()) {
    start_second_stage(address, Purpose::kTable);
    return;
  }
  first_entry_address_ = address;
  if ((address & bits_from(offers_->host_address_bits)) != 0) {
    fail(FaultReason::kFirstStageTopAccess);
    return;
  }
  read(Step::kFirstStage, TableKind::kFirstStage, address, kPageEntryBytes);
}

void Walk::on_first_stage(std::uint64_t raw) {
  first_entry_.raw = raw;
  rights_ = path_rights_;
  rights_.user = rights_.user && first_entry_.is_user();
  rights_.first_write = rights_.first_write && first_entry_.is_writable();
  rights_.execute = rights_.execute && first_entry_.is_executable();
  const FaultReason reason = first_stage_entry_fault();
  if (reason != FaultReason::kNone) {
    result_.is_absent = !first_entry_.is_present();
    fail(reason, span_bits(first_level_));
  } else {
    update_first_stage();
  }
}

/// What the way to a page has to grant: of a Translation Request the rest is denied bit by bit in
/// the answer. [IOM-7.2]
AccessWish Walk::wish_to_reach() const {
  AccessWish wish = wish_;
  if (is_translation_request()) {
    wish.write = wish.execute = false;
  }
  return wish;
}

/// Level by level: present, rights, reserved bits. A Translation Request only needs to reach it.
/// [IOM-3.2] [PAS-19] to [PAS-25]
FaultReason Walk::first_stage_entry_fault() const {
  if (!first_entry_.is_present()) {
    return FaultReason::kFirstStageNotPresent;
  }
  const FaultReason reason = first_stage_fault(rights_, wish_to_reach());
  if (reason != FaultReason::kNone) {
    return reason;
  }
  return first_entry_.has_reserved(first_level_, *offers_) ? FaultReason::kFirstStageReserved
                                                           : FaultReason::kNone;
}

// [IOM-2.13] [PAS-31] [PAS-32]
std::uint64_t Walk::first_stage_bits_to_set() const {
  std::uint64_t bits = FirstStageEntry::kAccessed;
  const bool writes = wish_.write && rights_.first_allows_write(wish_.privileged);
  if (first_entry_.is_leaf(first_level_) && writes) {
    bits |= FirstStageEntry::kDirty;
  }
  return bits & ~first_entry_.raw;
}

/// Sets what is to be set in the entry; in nested translation that is a write to the page it is in.
void Walk::update_first_stage() {
  const bool is_denied = is_nested() && !table_leaf_.write;
  std::uint64_t bits = first_stage_bits_to_set();
  if (is_denied && is_translation_request() && bits == FirstStageEntry::kDirty) {
    wish_.write = false;  // without D there is no W, and the rest is granted [IOM-7.2]
    bits = 0;
  }
  if (bits == 0) {
    after_first_stage();
    return;
  }
  if (is_denied) {
    fail(FaultReason::kSecondStagePermission);  // [PAS-34]
    return;
  }
  if (is_nested() && table_leaf_.write_needs_walk) {
    set_bits(Step::kSecondStageDirty, TableKind::kSecondStage, table_leaf_.entry_address,
             table_leaf_.entry, SecondStageEntry::kDirty);
    return;
  }
  set_bits(Step::kFirstStageUpdate, TableKind::kFirstStage, first_entry_address_, first_entry_.raw,
           bits);
}

void Walk::after_first_stage() {
  if (!first_entry_.is_leaf(first_level_)) {
    first_table_ = first_entry_.table();
    --first_level_;
    path_rights_ = rights_;
    remember_table(first_level_, first_table_);
    read_first_stage();
    return;
  }
  first_page_bits_ = static_cast<std::uint8_t>(span_bits(first_level_));
  guest_address_ =
      first_entry_.page(first_level_) | (request_.address & ~bits_from(first_page_bits_));
  result_.is_global = first_entry_.is_global();
  if (is_nested()) {
    start_second_stage(guest_address_, Purpose::kPage);
  } else {
    finish(guest_address_, first_page_bits_);
  }
}

// Both stages.

void Walk::set_bits(Step step, TableKind table, std::uint64_t address, std::uint64_t expected,
                    std::uint64_t bits) {
  read(step, table, address, kPageEntryBytes);
  access_.kind = MemoryAccess::Kind::kSetBits;
  access_.expected = expected;
  access_.bits = bits;
}

/// An entry that software changed in between is judged anew. [PAS-44]
void Walk::after_set_bits(std::uint64_t before) {
  const bool is_done = before == access_.expected;
  if (step_ == Step::kFirstStageUpdate) {
    if (is_done) {
      first_entry_.raw |= access_.bits;
      after_first_stage();
    } else {
      on_first_stage(before);
    }
  } else if (step_ == Step::kSecondStageUpdate) {
    if (is_done) {
      second_entry_.raw |= access_.bits;
      after_second_stage();
    } else {
      on_second_stage(before);
    }
  } else if (is_done) {
    table_leaf_.entry |= access_.bits;
    table_leaf_.write_needs_walk = false;
    remember_second_stage(table_leaf_);
    update_first_stage();
  } else {
    must_walk_second_stage_ = true;
    read_first_stage();
  }
}

bool Walk::write_needs_walk() const {
  const bool first =
      pasid_entry_.has_first_stage() && (first_entry_.raw & FirstStageEntry::kDirty) == 0;
  return first || (pasid_entry_.has_second_stage() && leaf_.write_needs_walk);
}

// [IOM-6.7] [PAS-38] [PAS-42] [PAS-43]
bool Walk::use_page(const PageTranslation& page) {
  const bool writes = wish_.write && page.rights.allows_write(wish_.privileged);
  if (page.fault != FaultReason::kNone) {
    fail(page.fault, page.page_bits);
    return true;
  }
  if ((writes && page.write_needs_walk) ||
      rights_fault(page.rights, wish_to_reach()) != FaultReason::kNone) {
    return false;
  }
  rights_ = page.rights;
  result_.is_global = page.is_global;
  finish(page.page | (request_.address & ~bits_from(page.page_bits)), page.page_bits);
  result_.write_needs_walk = page.write_needs_walk;
  result_.is_snooped = page.is_snooped;
  result_.is_transient = page.is_transient;
  result_.is_uncached = page.is_uncached;
  return true;
}

void Walk::finish(std::uint64_t address, unsigned page_bits) {
  const bool reads = rights_.allows_read(wish_.privileged);
  const bool writes = rights_.allows_write(wish_.privileged);
  const bool grants_all = !is_translation_request();
  if (is_interrupt_address(address)) {
    fail(FaultReason::kInterruptRange, page_bits);  // [IOM-3.3]
    return;
  }
  if (is_translation_request() && !reads && !(writes && wish_.write)) {
    fail(FaultReason::kSecondStagePermission, page_bits);
    return;
  }
  step_ = Step::kDone;
  result_.outcome = WalkOutcome::kTranslated;
  result_.address = address;
  result_.page_bits = static_cast<std::uint8_t>(page_bits);
  result_.rights = rights_;
  result_.read = reads;
  result_.write = writes && (grants_all || wish_.write);
  result_.execute = rights_.allows_execute(wish_.privileged) && (grants_all || wish_.execute);
  result_.write_needs_walk = write_needs_walk();
  result_.is_snooped =
      pasid_entry_.page_snoop() || (pasid_entry_.has_second_stage() && leaf_.snoop);
  result_.is_transient = pasid_entry_.has_second_stage() && leaf_.is_transient;
  result_.is_uncached = pasid_entry_.has_first_stage() && first_entry_.is_uncached();
}

}  // namespace flitwise
