// SPDX-License-Identifier: Apache-2.0
/// The MSI-X table of a function and its pending bits, as software sees them in a BAR: which write
/// tells of an interrupt, and which have to wait since they are masked. Standard register layout
/// (docs/config_space.md).
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace flitwise {

class MsixTable {
 public:
  static constexpr std::size_t kEntryBytes = 16;  ///< address, data, control with the Mask bit

  /// All vectors are masked. At most 64.
  explicit MsixTable(unsigned vectors) : vectors_(vectors) { reset(); }

  std::size_t bytes() const { return table_.size(); }
  /// REQUIRES: all of it lies in the table.
  void write(std::size_t offset, const std::uint8_t* bytes, std::size_t size);
  const std::uint8_t* at(std::size_t offset) const { return table_.data() + offset; }
  std::uint64_t pending() const { return pending_; }  ///< a bit for each vector

  /// The function has an interrupt to tell of; of a vector that is not there nothing comes.
  void raise(unsigned vector);

  struct Message {
    unsigned vector = 0;
    std::uint64_t address = 0;
    std::uint32_t data = 0;
  };
  /// What goes next, were the function as a whole not masked: of the lowest vector.
  std::optional<Message> next() const;
  /// It goes.
  void sent(const Message& message) { pending_ &= ~(std::uint64_t{1} << message.vector); }

  void reset();

 private:
  const unsigned vectors_;
  std::vector<std::uint8_t> table_;
  std::uint64_t pending_ = 0;
};

}  // namespace flitwise
