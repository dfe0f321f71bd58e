// SPDX-License-Identifier: Apache-2.0
// Register behaviours, bit by bit.
#include "config_space/register_file.h"

namespace flitwise {

void RegisterFile::define(std::uint16_t base, const Register& definition) {
  const std::size_t index = (base + definition.offset) / 4U;
  if (cells_.size() <= index) {
    cells_.resize(index + 1);
  }
  Cell& cell = cells_[index];
  cell.reset |= definition.reset;
  cell.rw |= definition.rw;
  cell.rw1c |= definition.rw1c;
  cell.sticky |= definition.sticky;
  cell.kept_by_flr |= definition.kept_by_flr;
  cell.value |= definition.reset;
}

std::uint32_t RegisterFile::read(std::uint16_t offset) const {
  const std::size_t index = offset / 4U;
  return index < cells_.size() ? cells_[index].value : 0;
}

std::uint32_t RegisterFile::writable(std::uint16_t offset) const {
  const std::size_t index = offset / 4U;
  return index < cells_.size() ? cells_[index].rw : 0;
}

std::uint32_t RegisterFile::write(std::uint16_t offset, std::uint32_t value,
                                  std::uint8_t byte_enables) {
  const std::size_t index = offset / 4U;
  if (index >= cells_.size()) {
    return 0;
  }
  Cell& cell = cells_[index];
  const std::uint32_t enabled = byte_mask(byte_enables);
  const std::uint32_t before = cell.value;
  const std::uint32_t writable = cell.rw & enabled;
  cell.value = (before & ~writable) | (value & writable);
  cell.value &= ~(value & cell.rw1c & enabled);
  return before ^ cell.value;
}

void RegisterFile::set(std::uint16_t offset, std::uint32_t mask, std::uint32_t value) {
  const std::size_t index = offset / 4U;
  if (index < cells_.size()) {
    cells_[index].value = (cells_[index].value & ~mask) | (value & mask);
  }
}

void RegisterFile::reset(ResetKind kind) {
  for (Cell& cell : cells_) {
    const std::uint32_t kept =
        kind == ResetKind::kFunctionLevel ? cell.sticky | cell.kept_by_flr : cell.sticky;
    cell.value = (cell.value & kept) | (cell.reset & ~kept);
  }
}

}  // namespace flitwise
