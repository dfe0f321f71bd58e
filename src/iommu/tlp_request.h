// SPDX-License-Identifier: Apache-2.0
/// What a memory request asks of the translation agent, and what a function is told of its page.
#pragma once

#include "ats/translation_entry.h"
#include "flitwise/ids.h"
#include "flitwise/tlp.h"
#include "iommu/walk.h"

namespace flitwise {

/// identity: of the domain that the request names, in full or by a handle; PASID, PMR and ER are
/// those of the handle's entry then, whatever the TLP claims. [IOM-2.1] [ATR-15] [DHI D17]
WalkRequest walk_request_of(const Tlp& tlp, const DeviceIdentity& identity);

/// The entry of a Translation Completion for a walk that ended in a translation. has_pasid: of the
/// domain that asked. stu: of its function; what is smaller is no access, and no access is told in
/// that size. [ATR-01] [ATR-24] [CFG-05]
TranslationEntry translation_entry_of(const WalkResult& result, bool has_pasid, unsigned stu);

}  // namespace flitwise
