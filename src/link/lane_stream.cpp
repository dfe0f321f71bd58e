// SPDX-License-Identifier: Apache-2.0
// Placing units on the lanes by integer arithmetic.
#include "link/lane_stream.h"

#include <algorithm>

#include "flitwise/flit.h"

namespace flitwise {

LineCoding line_coding(const LinkPreset& preset, SkpMode skp) {
  static constexpr std::int64_t kUnitIntervalFs[] = {400'000, 200'000, 125'000,
                                                     62'500,  31'250,  15'625};
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
    coding.eds_bytes = 0;
  } else if (skp == SkpMode::kSris) {
    coding.skp_due_blocks = 32;
  }
  if (preset.generation > 2 && coding.lanes < kTokenAlignmentBytes) {
    coding.rows_per_token = kTokenAlignmentBytes / coding.lanes;
  }
  if (skp == SkpMode::kOff) {
    coding.skp_due_blocks = 0;
  }
  return coding;
}

LineCoding flit_coding(const LinkPreset& preset, SkpMode skp) {
  LineCoding coding = line_coding(preset, skp);
  coding.eds_bytes = 0;
  coding.rows_per_token = 1;
  constexpr unsigned kFirst1b1b = 6;  // generation
  if (preset.generation >= kFirst1b1b) {
    coding.rows_per_block = 8;
    coding.header_ui = 0;
    coding.skp_blocks = kSkpSymbols1b1b / coding.rows_per_block;
    const std::uint32_t due = skp == SkpMode::kOff    ? 0
                              : skp == SkpMode::kSris ? kSkpDueSymbols1b1bSris
                                                      : kSkpDueSymbols1b1b;
    coding.skp_due_blocks = due / coding.rows_per_block;
  }
  coding.blocks_per_flit = flit::kBytes / (coding.rows_per_block * coding.lanes);
  // They come between flits, and not too late, but never without a flit between them.
  if (coding.skp_due_blocks != 0) {
    const std::uint32_t flits = coding.skp_due_blocks / coding.blocks_per_flit;
    coding.skp_due_blocks = std::max(flits, 1U) * coding.blocks_per_flit;
  }
  return coding;
}

LineCoding flit68_coding(const LinkPreset& preset, SkpMode skp) {
  LineCoding coding = line_coding(preset, skp);
  coding.eds_bytes = 0;
  coding.rows_per_token = kFlit68StartRows;
  return coding;
}

LineCoding bit_stream(const LinkPreset& preset) {
  LineCoding coding = line_coding(preset, SkpMode::kOff);
  coding.rows_per_block = 1;
  coding.ui_per_row = 1;
  coding.header_ui = 0;
  coding.unit_bits = 1;
  coding.coding_bits_per_symbol = 0;
  coding.rows_per_token = 1;
  return coding;
}

LaneStream::LaneStream(const LineCoding& coding)
    : coding_(coding),
      block_symbols_(coding.rows_per_block * coding.lanes),
      block_ui_(coding.header_ui + coding.rows_per_block * coding.ui_per_row),
      by_block_(block_symbols_),
      by_lanes_(coding.lanes),
      next_skp_(coding.skp_due_blocks) {}

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
  // Far enough behind the wire, even the row that is still open starts after `earliest`.
  if (earliest + symbol_time() <= free_at_ || earliest <= start_of_row()) {
    return;
  }
  const auto ui = static_cast<std::uint64_t>((earliest.fs + coding_.unit_interval_fs - 1) /
                                             coding_.unit_interval_fs);
  std::uint64_t block = ui / block_ui_;
  const auto within = static_cast<std::uint32_t>(ui % block_ui_);
  std::uint32_t row = 0;
  if (within > coding_.header_ui) {
    row = (within - coding_.header_ui + coding_.ui_per_row - 1) / coding_.ui_per_row;
  }
  if (coding_.blocks_per_flit > 0) {
    idle_to_flit(block + (row > 0 ? 1 : 0));
    return;
  }
  // Tokens start on four bytes, which matters where a row is narrower. [LNK-5.13]
  row = (row + coding_.rows_per_token - 1) / coding_.rows_per_token * coding_.rows_per_token;
  if (row == coding_.rows_per_block) {
    row = 0;
    ++block;
  }
  idle_to(block, row * coding_.lanes);
}

// Idle flits up to the first that begins at or behind the given block. [LNK-11.4]
void LaneStream::idle_to_flit(std::uint64_t block) {
  idle_to(block, 0);
  const std::uint64_t flit = coding_.blocks_per_flit;
  const std::uint64_t missing =
      coding_.skp_due_blocks == 0 ? (flit - block_ % flit) % flit : (next_skp_ - block_) % flit;
  pass_idle(block_ + missing, 0);
}

// The row in which the next symbol would stand.
Time LaneStream::start_of_row() const {
  const std::uint64_t ui = block_ * block_ui_ + coding_.header_ui +
                           std::uint64_t{by_lanes_.of(offset_)} * coding_.ui_per_row;
  return {static_cast<std::int64_t>(ui) * coding_.unit_interval_fs};
}

// The first block at whose start an ordered set can stand: an EDS token ends the block before it.
std::uint64_t LaneStream::next_boundary() const {
  const bool is_at_boundary = offset_ == 0 && (coding_.eds_bytes == 0 || is_after_idle_);
  return is_at_boundary ? block_ : block_ + 1;
}

void LaneStream::advance_skps(std::uint64_t blocks) {
  const std::uint64_t whole =
      coding_.blocks_per_flit == 0 ? blocks : blocks - blocks % coding_.blocks_per_flit;
  next_skp_ -= std::min(next_skp_, whole);
}

// Moves the cursor over idle symbols, and over the headers of blocks in which nothing stands.
void LaneStream::pass_idle(std::uint64_t block, std::uint32_t offset) {
  const std::uint64_t symbols = (block - block_) * block_symbols_ + offset - offset_;
  idle_bits_ += symbols * (coding_.unit_bits + coding_.coding_bits_per_symbol);
  const std::uint64_t first = std::max(block_, charged_);
  if (block > first) {
    idle_bits_ += (block - first) * coding_.header_ui * coding_.lanes;
    charged_ = block;
  }
  block_ = block;
  offset_ = offset;
}

// Idle symbols up to the given place, and the SKP ordered sets that are due on the way.
void LaneStream::idle_to(std::uint64_t block, std::uint32_t offset) {
  const std::uint64_t period = skp_period();
  while (coding_.skp_due_blocks != 0) {
    const std::uint64_t start = std::max(next_skp_, next_boundary());
    if (block < start) {
      break;
    }
    // One that a unit has put off comes alone; from the first that is on time on, all are.
    const std::uint64_t count = start == next_skp_ ? (block - start) / period + 1 : 1;
    skps_ += count;
    const std::uint64_t of_one_set = std::uint64_t{coding_.skp_blocks} * block_ui_ * coding_.lanes;
    const std::uint64_t of_one_token = coding_.eds_bytes * 8ULL;  // stands where idle would
    phy_bits_ += count * (of_one_set + of_one_token);
    pass_idle(start, 0);
    const std::uint64_t idle_block =
        std::uint64_t{block_symbols_} * (coding_.unit_bits + coding_.coding_bits_per_symbol) +
        std::uint64_t{coding_.header_ui} * coding_.lanes;
    idle_bits_ += (count - 1) * coding_.skp_due_blocks * idle_block - count * of_one_token;
    next_skp_ += count * period;
    block_ = start + (count - 1) * period + coding_.skp_blocks;
    is_after_idle_ = false;
    charged_ = std::max(charged_, block_);
  }
  if (block > block_ || (block == block_ && offset > offset_)) {
    pass_idle(block, offset);
    is_after_idle_ = true;
  }
}

// Ends the data stream, fills the block, and sends one SKP ordered set.
void LaneStream::insert_skp() {
  const std::uint64_t boundary = next_boundary();
  if (boundary > block_) {
    phy_bits_ += std::uint64_t{block_symbols_ - offset_} *
                 (coding_.unit_bits + coding_.coding_bits_per_symbol);
    charge_blocks(block_, block_);
  }
  phy_bits_ += std::uint64_t{coding_.skp_blocks} * block_ui_ * coding_.lanes;
  block_ = boundary + coding_.skp_blocks;
  offset_ = 0;
  is_after_idle_ = false;
  charged_ = std::max(charged_, block_);
  next_skp_ += skp_period();
  ++skps_;
}

Time LaneStream::next_start(Time earliest) const {
  LaneStream lanes = *this;
  lanes.skip_to(earliest);
  return lanes.start_of_row();
}

Placement LaneStream::place(std::uint32_t symbols, Time earliest) {
  skip_to(earliest);
  // Those that became due while a long unit was on the wire follow each other. [LNK-5.14, LNK-5.15]
  while (coding_.skp_due_blocks != 0 && block_ >= next_skp_) {
    insert_skp();
  }
  Placement placement;
  placement.first = start_of_row();
  const std::uint32_t end = offset_ + symbols;
  const std::uint32_t blocks = by_block_.of(end - 1);
  const std::uint64_t last_block = block_ + blocks;
  charge_blocks(block_, last_block);
  phy_bits_ += std::uint64_t{symbols} * coding_.coding_bits_per_symbol;
  const std::uint32_t end_in_block = end - blocks * block_symbols_;
  placement.last = time_of(last_block, by_lanes_.up(end_in_block));
  block_ = last_block;
  offset_ = end_in_block;
  is_after_idle_ = false;
  if (offset_ == block_symbols_) {
    ++block_;
    offset_ = 0;
  }
  free_at_ = placement.last;
  return placement;
}

void LaneStream::settle(Time t) {
  skip_to(std::max(t, free_at_));
  // Flits end where a SKP ordered set is due: then it is what comes next. [LNK-11.4]
  while (coding_.blocks_per_flit > 0 && coding_.skp_due_blocks != 0 && block_ >= next_skp_) {
    insert_skp();
  }
  // The sync header of the block that the cursor stands in lies behind.
  if (charged_ <= block_) {
    idle_bits_ += std::uint64_t{coding_.header_ui} * coding_.lanes;
    charged_ = block_ + 1;
  }
  free_at_ = start_of_row();
}

}  // namespace flitwise
