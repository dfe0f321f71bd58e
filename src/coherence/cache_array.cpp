// SPDX-License-Identifier: Apache-2.0
// Sets and ways.
#include "coherence/cache_array.h"

namespace flitwise {

CacheArray::CacheArray(std::uint32_t sets, std::uint32_t ways, LineStateListener* listener)
    : sets_(sets),
      ways_per_set_(ways),
      listener_(listener),
      ways_(std::size_t{sets} * std::size_t{ways}) {}

const CacheArray::Way* CacheArray::find(std::uint64_t line) const {
  const std::size_t first = first_of_set(line);
  for (std::size_t i = first; i < first + ways_per_set_; ++i) {
    if (ways_[i].line == line && !ways_[i].is_free()) {
      return &ways_[i];
    }
  }
  return nullptr;
}

const CacheArray::Way* CacheArray::room_for(std::uint64_t line) const {
  const std::size_t first = first_of_set(line);
  const Way* oldest = nullptr;
  for (std::size_t i = first; i < first + ways_per_set_; ++i) {
    const Way& way = ways_[i];
    if (way.is_free()) {
      return &way;
    }
    if (!way.is_reserved && (oldest == nullptr || way.last_use < oldest->last_use)) {
      oldest = &way;
    }
  }
  return oldest;
}

void CacheArray::set_state(Way& way, LineState state) {
  if (way.state == state) {
    return;
  }
  way.state = state;
  tell(way.line, state);
}

void CacheArray::use(Way& way, const CoreRequest& request) {
  way.last_use = ++uses_;
  if (request.is_write()) {
    merge(way.data, request.line, request.byte_enables);
    set_state(way, LineState::kModified);
  }
}

CoreResult CacheArray::hit(const CoreRequest& request) {
  CoreResult result{request.op, request.token, request.address, false, {}};
  if (Way* const way = find(line_of(request.address))) {
    use(*way, request);
    result.line = way->data;
  }
  return result;
}

void CacheArray::vacate(Way& way) {
  way.state = LineState::kInvalid;
  way.is_reserved = false;
}

std::size_t CacheArray::lose_all() {
  std::size_t modified = 0;
  for (Way& way : ways_) {
    modified += way.state == LineState::kModified ? 1 : 0;
    set_state(way, LineState::kInvalid);
    way = Way();
  }
  return modified;
}

}  // namespace flitwise
