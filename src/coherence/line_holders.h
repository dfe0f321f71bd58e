// SPDX-License-Identifier: Apache-2.0
/// Who holds a line, exactly: one owner or any number of sharers. [COH-3.1]
#pragma once

#include <cstdint>
#include <optional>

namespace flitwise {

using PortMask = std::uint32_t;  ///< bit i: port i
inline constexpr std::uint8_t kMaxPorts = 32;

class LineHolders {
 public:
  bool empty() const { return sharers_ == 0 && !owner_; }
  std::optional<std::uint8_t> owner() const { return owner_; }
  bool is_owner(std::uint8_t port) const { return owner_ == port; }
  bool holds(std::uint8_t port) const { return (all() & bit(port)) != 0; }
  PortMask sharers() const { return sharers_; }
  PortMask all() const { return owner_ ? sharers_ | bit(*owner_) : sharers_; }
  PortMask all_but(std::uint8_t port) const { return all() & ~bit(port); }

  void make_owner(std::uint8_t port) {
    sharers_ = 0;
    owner_ = port;
  }
  /// An owner becomes a sharer by this as well.
  void add_sharer(std::uint8_t port) {
    remove(port);
    sharers_ |= bit(port);
  }
  void remove(std::uint8_t port) {
    sharers_ &= ~bit(port);
    if (is_owner(port)) {
      owner_.reset();
    }
  }

 private:
  static constexpr PortMask bit(std::uint8_t port) { return PortMask{1} << port; }
  PortMask sharers_ = 0;
  std::optional<std::uint8_t> owner_;
};

}  // namespace flitwise
