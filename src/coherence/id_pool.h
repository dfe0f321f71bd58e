// SPDX-License-Identifier: Apache-2.0
/// Identifiers of what is outstanding: CQID, UQID, Tag, BITag. Each is out once at most. [COH-1.3]
#pragma once

#include <cstdint>
#include <vector>

namespace flitwise {

class IdPool {
 public:
  /// Ids 0 to `size` - 1.
  explicit IdPool(std::uint32_t size) : is_out_(size, false) {
    free_.reserve(size);
    for (std::uint32_t id = size; id > 0; --id) {
      free_.push_back(static_cast<std::uint16_t>(id - 1));
    }
  }

  std::size_t available() const { return free_.size(); }
  std::size_t outstanding() const { return is_out_.size() - free_.size(); }
  bool is_out(std::uint16_t id) const { return id < is_out_.size() && is_out_[id]; }
  /// The one that acquire() would give. REQUIRES: available() > 0.
  std::uint16_t next() const { return free_.back(); }

  /// REQUIRES: available() > 0.
  std::uint16_t acquire() {
    const std::uint16_t id = free_.back();
    free_.pop_back();
    is_out_[id] = true;
    return id;
  }
  /// REQUIRES: is_out(id).
  void release(std::uint16_t id) {
    is_out_[id] = false;
    free_.push_back(id);
  }

 private:
  std::vector<std::uint16_t> free_;
  std::vector<bool> is_out_;
};

}  // namespace flitwise
