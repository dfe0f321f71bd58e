// SPDX-License-Identifier: Apache-2.0
// The walk of a translated request through the permission table of its domain. [SEC-01]
#include "iommu/walk.h"

namespace flitwise {

// A domain without a table has no permissions. [SEC-08]
void Walk::start_permission() {
  const bool is_beyond = (request_.address & bits_from(offers_->host_address_bits)) != 0;
  if (pasid_entry_.has_permission_table && pasid_entry_.is_trusted != request_.is_trusted) {
    fail(FaultReason::kPermissionTrust);
  } else if (!pasid_entry_.has_permission_table || is_beyond) {
    fail(FaultReason::kPermissionDenied);
  } else {
    read_permission(permission_levels(offers_->host_address_bits), pasid_entry_.permission_table);
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
  if (!grants(word.of(request_.address))) {
    return false;
  }
  finish_permission(word.of(request_.address));
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
  if (!word.is_leaf()) {
    read_permission(word.level - 1U, word.table());
  } else if (grants(word.of(request_.address))) {
    finish_permission(word.of(request_.address));
  } else {
    fail(FaultReason::kPermissionDenied);
  }
}

/// A read of no bytes may go where writes may, with ZLR.
bool Walk::grants(const PagePermission& permission) const {
  const bool reads = permission.read ||
                     (permission.write && request_.wish.zero_length && offers_->zero_length_read);
  return (!request_.wish.read || reads) && (!request_.wish.write || permission.write);
}

void Walk::finish_permission(const PagePermission& permission) {
  step_ = Step::kDone;
  result_.outcome = WalkOutcome::kTranslated;
  result_.address = request_.address;
  result_.read = permission.read;
  result_.write = permission.write;
}

}  // namespace flitwise
