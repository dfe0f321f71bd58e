// SPDX-License-Identifier: Apache-2.0
// The walk through the page tables of the second stage. [IOM-4.2]
#include <algorithm>

#include "iommu/walk.h"

namespace flitwise {

void Walk::start_second_stage(std::uint64_t input, Purpose purpose) {
  purpose_ = purpose;
  second_input_ = input;
  if ((input & bits_from(pasid_entry_.second_stage_bits(*offers_))) != 0) {
    constexpr FaultReason kByPurpose[] = {FaultReason::kAddressTooHigh,              // [PAS-17]
                                          FaultReason::kNestedTableTooHigh,          // [IOM-4.2]
                                          FaultReason::kSecondStageAddressTooHigh};  // [IOM-4.2]
    fail(kByPurpose[static_cast<unsigned>(purpose)]);
    return;
  }
  second_table_ = pasid_entry_.second_stage_table();
  if ((second_table_ & bits_from(offers_->host_address_bits)) != 0) {
    fail(FaultReason::kSecondStagePointerInvalid);
    return;
  }
  second_level_ = pasid_entry_.second_stage_levels();
  second_path_read_ = second_path_write_ = true;
  if (purpose == Purpose::kInput) {
    remember_table(second_level_, second_table_);
  }
  read_second_stage();
}

std::optional<std::uint64_t> Walk::second_stage_input() const {
  const bool is_at_start = !must_walk_second_stage_ && step_ == Step::kSecondStage &&
                           purpose_ != Purpose::kInput &&
                           second_level_ == pasid_entry_.second_stage_levels() &&
                           access_.kind == MemoryAccess::Kind::kRead;
  return is_at_start ? std::optional<std::uint64_t>(second_input_) : std::nullopt;
}

void Walk::use_second_stage(const SecondStageLeaf& leaf) {
  if (purpose_ == Purpose::kPage && wish_.write && leaf.write && leaf.write_needs_walk) {
    return;  // the walk has to set D
  }
  leaf_ = leaf;
  second_read_ = leaf.read;
  second_write_ = leaf.write;
  const FaultReason reason = second_stage_rights_fault();
  if (reason != FaultReason::kNone) {
    fail(reason, leaf.page_bits < first_page_bits_ ? leaf.page_bits : first_page_bits_);
  } else {
    after_leaf();
  }
}

void Walk::read_second_stage() {
  read(Step::kSecondStage, TableKind::kSecondStage,
       second_table_ + entry_offset(second_input_, second_level_), kPageEntryBytes);
}

void Walk::on_second_stage(std::uint64_t raw) {
  second_entry_.raw = raw;
  second_read_ = second_path_read_ && second_entry_.is_readable();
  second_write_ = second_path_write_ && second_entry_.is_writable();
  FaultReason reason = second_stage_rights_fault();
  if (reason == FaultReason::kNone && second_entry_.has_reserved(second_level_, *offers_)) {
    reason = FaultReason::kSecondStageReserved;  // [PAS-28] [PAS-29] [PAS-30]
  }
  if (reason != FaultReason::kNone) {
    result_.is_absent = !second_entry_.is_readable() && !second_entry_.is_writable();
    fail(reason, second_hole_bits());
    return;
  }
  const std::uint64_t bits = second_stage_bits_to_set();
  if (bits == 0) {
    after_second_stage();
  } else {
    set_bits(Step::kSecondStageUpdate, TableKind::kSecondStage, access_.address, raw, bits);
  }
}

/// Of a hole in the second stage, as the function sees it: not above the page of the first stage.
unsigned Walk::second_hole_bits() const {
  if (purpose_ == Purpose::kTable) {
    return kPageBits;
  }
  const unsigned bits = span_bits(second_level_);
  return purpose_ == Purpose::kPage ? std::min<unsigned>(bits, first_page_bits_) : bits;
}

// [PAS-26] [PAS-27] [PAS-33] [PAS-34]
FaultReason Walk::second_stage_rights_fault() const {
  Rights rights;
  rights.second_read = second_read_;
  rights.second_write = second_write_;
  if (purpose_ == Purpose::kTable) {
    return second_read_ ? FaultReason::kNone : FaultReason::kSecondStagePermission;
  }
  if (is_translation_request()) {
    return second_read_ || second_write_ ? FaultReason::kNone : FaultReason::kSecondStagePermission;
  }
  return second_stage_fault(rights, wish_);
}

// [IOM-2.13] [PAS-44]
std::uint64_t Walk::second_stage_bits_to_set() const {
  if (!pasid_entry_.second_stage_accessed_dirty()) {
    return 0;
  }
  std::uint64_t bits = SecondStageEntry::kAccessed;
  const bool writes = purpose_ != Purpose::kTable && wish_.write && second_write_ &&
                      rights_.first_allows_write(wish_.privileged);
  if (second_entry_.is_leaf(second_level_) && writes) {
    bits |= SecondStageEntry::kDirty;
  }
  return bits & ~second_entry_.raw;
}

void Walk::after_second_stage() {
  if (!second_entry_.is_leaf(second_level_)) {
    second_table_ = second_entry_.table();
    --second_level_;
    second_path_read_ = second_read_;
    second_path_write_ = second_write_;
    if (purpose_ == Purpose::kInput) {
      path_rights_.second_read = second_read_;
      path_rights_.second_write = second_write_;
      remember_table(second_level_, second_table_);
    }
    read_second_stage();
    return;
  }
  must_walk_second_stage_ = false;
  leaf_.page = second_entry_.page(second_level_);
  leaf_.page_bits = static_cast<std::uint8_t>(span_bits(second_level_));
  leaf_.read = second_read_;
  leaf_.write = second_write_;
  leaf_.snoop = second_entry_.is_snooped();
  leaf_.is_transient = second_entry_.is_transient();
  leaf_.write_needs_walk = pasid_entry_.second_stage_accessed_dirty() &&
                           (second_entry_.raw & SecondStageEntry::kDirty) == 0;
  leaf_.entry_address = access_.address;
  leaf_.entry = second_entry_.raw;
  if (purpose_ != Purpose::kInput) {
    remember_second_stage(leaf_);
  }
  after_leaf();
}

/// The latest word on a guest address replaces the one before.
void Walk::remember_second_stage(const SecondStageLeaf& leaf) {
  const bool is_again = second_count_ > 0 && seconds_[second_count_ - 1].guest == second_input_;
  if (is_again) {
    --second_count_;
  }
  if (second_count_ < seconds_.size()) {
    seconds_[second_count_] = leaf;
    seconds_[second_count_++].guest = second_input_;
  }
}

void Walk::after_leaf() {
  const std::uint64_t address = leaf_.page | (second_input_ & ~bits_from(leaf_.page_bits));
  if (purpose_ == Purpose::kTable) {
    table_leaf_ = leaf_;
    first_entry_address_ = address;
    read(Step::kFirstStage, TableKind::kFirstStage, address, kPageEntryBytes);
    return;
  }
  rights_.second_read = leaf_.read;
  rights_.second_write = leaf_.write;
  // [IOM-2.14]
  const bool is_first_smaller = purpose_ == Purpose::kPage && first_page_bits_ < leaf_.page_bits;
  finish(address, is_first_smaller ? first_page_bits_ : leaf_.page_bits);
}

}  // namespace flitwise
