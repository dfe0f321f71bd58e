// SPDX-License-Identifier: Apache-2.0
// Comparison of identities that do not stand in the Requester ID.
#include "link/ordering.h"

namespace flitwise {

bool identities_differ(const Tlp& later, const Tlp& earlier, const IdentityForm& form) {
  if (!later.id_is_handle && !earlier.id_is_handle) {
    return identities_differ(later, earlier);
  }
  const WireIdentity one = identity_of(later, form);
  const WireIdentity other = identity_of(earlier, form);
  return one.handle && other.handle && *one.handle != *other.handle;
}

}  // namespace flitwise
