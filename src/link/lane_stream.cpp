// SPDX-License-Identifier: Apache-2.0
// Placing units on the lanes by integer arithmetic.
#include "link/lane_stream.h"

#include <algorithm>

namespace flitwise {

LineCoding line_coding(const LinkPreset& preset, SkpMode skp) {
  static constexpr std::int64_t kUnitIntervalFs[] = {400'000, 200'000, 125'000, 62'500, 31'250};
  LineCoding coding;
  coding.unit_interval_fs = kUnitIntervalFs[preset.generation - 1];
  coding.lanes = preset.lanes;
  if (preset.generation <= 2) {
    coding.rows_per_block = 1;
    coding.ui_per_row = 10;
    coding.header_ui = 0;
    coding.coding_bits_per_symbol = 2;
    coding.skp_blocks = 4;
    coding.skp_due_blocks = skp == SkpMode::kSris ? 140 : 1180;
    coding.skp_deadline_blocks = skp == SkpMode::kSris ? 153 : 1538;
    coding.eds_bytes = 0;
  } else if (skp == SkpMode::kSris) {
    coding.skp_due_blocks = 32;
    coding.skp_deadline_blocks = 37;
  }
  if (skp == SkpMode::kOff) {
    coding.skp_due_blocks = 0;
  }
  return coding;
}

LineCoding bit_stream(const LinkPreset& preset) {
  LineCoding coding = line_coding(preset, SkpMode::kOff);
  coding.rows_per_block = 1;
  coding.ui_per_row = 1;
  coding.header_ui = 0;
  coding.unit_bits = 1;
  coding.coding_bits_per_symbol = 0;
  return coding;
}

LaneStream::LaneStream(const LineCoding& coding)
    : coding_(coding),
      block_symbols_(coding.rows_per_block * coding.lanes),
      block_ui_(coding.header_ui + coding.rows_per_block * coding.ui_per_row),
      by_block_(block_symbols_),
      by_lanes_(coding.lanes) {}

Time LaneStream::time_of(std::uint64_t block, std::uint32_t offset_rows) const {
  const std::uint64_t ui = block * block_ui_ + (offset_rows == 0 ? 0 : coding_.header_ui) +
                           offset_rows * coding_.ui_per_row;
  return {static_cast<std::int64_t>(ui) * coding_.unit_interval_fs};
}

void LaneStream::charge_blocks(std::uint64_t first, std::uint64_t last) {
  const std::uint64_t from = std::max(first, charged_);
  if (from <= last) {
    phy_bits_ += (last - from + 1) * coding_.header_ui * coding_.lanes;
    charged_ = last + 1;
  }
}

// Moves the cursor over idle symbols to the first row that starts at or after `earliest`.
void LaneStream::skip_to(Time earliest) {
  if (earliest <= free_at_) {
    return;
  }
  const auto ui = static_cast<std::uint64_t>((earliest.fs + coding_.unit_interval_fs - 1) /
                                             coding_.unit_interval_fs);
  std::uint64_t block = ui / block_ui_;
  const auto within = static_cast<std::uint32_t>(ui % block_ui_);
  std::uint32_t row = 0;
  if (within > coding_.header_ui) {
    row = (within - coding_.header_ui + coding_.ui_per_row - 1) / coding_.ui_per_row;
  } else if (within > 0 && coding_.header_ui == 0) {
    row = (within + coding_.ui_per_row - 1) / coding_.ui_per_row;
  }
  if (row == coding_.rows_per_block) {
    row = 0;
    ++block;
  }
  const std::uint32_t offset = row * coding_.lanes;
  if (block > block_ || (block == block_ && offset > offset_)) {
    block_ = block;
    offset_ = offset;
    pass_idle_skps();
  }
}

// SKP ordered sets that fell into the idle time behind the cursor, at the earliest permitted
// places.
void LaneStream::pass_idle_skps() {
  if (coding_.skp_due_blocks == 0 || block_ < skp_after_ + coding_.skp_due_blocks) {
    return;
  }
  const std::uint64_t period = coding_.skp_due_blocks + coding_.skp_blocks;
  const std::uint64_t count = (block_ - skp_after_ - coding_.skp_due_blocks) / period + 1;
  skps_ += count;
  phy_bits_ += count * (coding_.skp_blocks * block_ui_ * coding_.lanes + coding_.eds_bytes * 8ULL);
  skp_after_ += count * period;
  charged_ = std::max(charged_, skp_after_);
  if (block_ < skp_after_) {  // the cursor stood inside the last one
    block_ = skp_after_;
    offset_ = 0;
  }
}

// Ends the data stream, fills the block, and sends one SKP ordered set.
void LaneStream::insert_skp() {
  if (coding_.eds_bytes > 0 || offset_ > 0) {
    phy_bits_ += std::uint64_t{block_symbols_ - offset_} *
                 (coding_.unit_bits + coding_.coding_bits_per_symbol);
    charge_blocks(block_, block_);
    ++block_;
  }
  phy_bits_ += std::uint64_t{coding_.skp_blocks} * block_ui_ * coding_.lanes;
  block_ += coding_.skp_blocks;
  offset_ = 0;
  skp_after_ = block_;
  charged_ = std::max(charged_, block_);
  ++skps_;
}

Placement LaneStream::place(std::uint32_t symbols, Time earliest) {
  skip_to(earliest);
  if (coding_.skp_due_blocks != 0) {
    const std::uint64_t end_block =
        block_ + by_block_.of(offset_ + symbols + coding_.eds_bytes - 1);
    if (block_ - skp_after_ >= coding_.skp_due_blocks ||
        (end_block - skp_after_ >= coding_.skp_deadline_blocks && block_ > skp_after_)) {
      insert_skp();
    }
  }
  Placement placement;
  placement.first = offset_ == 0 && coding_.header_ui > 0
                        ? Time{static_cast<std::int64_t>(block_ * block_ui_ + coding_.header_ui) *
                               coding_.unit_interval_fs}
                        : time_of(block_, by_lanes_.of(offset_));
  const std::uint32_t end = offset_ + symbols;
  const std::uint32_t blocks = by_block_.of(end - 1);
  const std::uint64_t last_block = block_ + blocks;
  charge_blocks(block_, last_block);
  phy_bits_ += std::uint64_t{symbols} * coding_.coding_bits_per_symbol;
  const std::uint32_t end_in_block = end - blocks * block_symbols_;
  placement.last = time_of(last_block, by_lanes_.up(end_in_block));
  block_ = last_block;
  offset_ = end_in_block;
  if (offset_ == block_symbols_) {
    ++block_;
    offset_ = 0;
  }
  free_at_ = placement.last;
  return placement;
}

void LaneStream::settle(Time t) {
  skip_to(t);
  free_at_ = std::max(free_at_, next_edge(t, Time{coding_.unit_interval_fs}));
}

void LaneStream::hold_until(Time t) {
  settle(std::max(t, free_at_));
}

std::uint64_t LaneStream::raw_bits(Time span) const {
  return static_cast<std::uint64_t>(span.fs / coding_.unit_interval_fs) * coding_.lanes;
}

}  // namespace flitwise
