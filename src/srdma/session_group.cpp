// SPDX-License-Identifier: Apache-2.0
#include "srdma/session_group.h"

#include <algorithm>

namespace flitwise {

unsigned SessionGroup::sessions() const {
  return static_cast<unsigned>(
      std::count_if(sessions_.begin(), sessions_.end(), [](const GroupSession& one) {
        return one.state == SessionState::kHandshake || is_eligible(one.state);
      }));
}

unsigned SessionGroup::slot_of(SessionId id) const {
  const auto one =
      std::find_if(sessions_.begin(), sessions_.end(), [id](const GroupSession& session) {
        return session.id == id && session.state != SessionState::kClosed;
      });
  return static_cast<unsigned>(one - sessions_.begin());
}

}  // namespace flitwise
