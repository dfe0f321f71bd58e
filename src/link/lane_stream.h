// SPDX-License-Identifier: Apache-2.0
/// Where each byte of one direction stands on the lanes: line coding, SKP ordered sets, and the
/// exact time of every symbol.
#pragma once

#include <cstdint>

#include "flitwise/config.h"
#include "flitwise/time.h"

namespace flitwise {

/// Division by a number that is fixed at run time, as one multiplication: for what is divided on
/// every packet.
class Quotient {
 public:
  /// REQUIRES: divisor > 0.
  explicit Quotient(std::uint32_t divisor)
      : reciprocal_(((std::uint64_t{1} << 32) + divisor - 1) / divisor), divisor_(divisor) {}

  /// number / divisor, rounded down. REQUIRES: number * divisor < 2^32, which makes it exact.
  std::uint32_t of(std::uint32_t number) const {
    return static_cast<std::uint32_t>((number * reciprocal_) >> 32);
  }
  /// The same, rounded up.
  std::uint32_t up(std::uint32_t number) const { return of(number + divisor_ - 1); }

 private:
  std::uint64_t reciprocal_;
  std::uint32_t divisor_;
};

/// Line coding as blocks: 128b/130b has 16 rows of 8 UI behind a 2-UI sync header, 8b/10b one row
/// of 10 UI, 1b/1b eight rows of 8 UI, a bit stream rows of 1 UI. A row is one symbol on every
/// lane. Unit interval: one bit on one lane. [LNK-5.1, LNK-5.2, LNK-5.12]
struct LineCoding {
  std::int64_t unit_interval_fs = 31'250;
  std::uint32_t lanes = 16;
  std::uint32_t rows_per_block = 16;
  std::uint32_t ui_per_row = 8;
  std::uint32_t header_ui = 2;
  std::uint32_t unit_bits = 8;               ///< data bits of a symbol: what place() counts in
  std::uint32_t coding_bits_per_symbol = 0;  ///< beyond the data bits
  std::uint32_t skp_blocks = 1;              ///< length of one SKP ordered set
  std::uint32_t skp_due_blocks = 370;        ///< blocks from one to the next; 0: never
  std::uint32_t eds_bytes = 4;               ///< end-of-data-stream token before an ordered set
  std::uint32_t rows_per_token = 1;  ///< after idle, a packet starts on a multiple of so many rows
  /// Flit mode: each unit is a flit of so many blocks, and flits (idle ones too) follow each other
  /// without a gap from one SKP ordered set to the next; else 0. [LNK-11.4]
  std::uint32_t blocks_per_flit = 0;
};

/// Where packets start in the lane-striped stream of 128b/130b; unverified, hence named. [LNK-5.13]
inline constexpr std::uint32_t kTokenAlignmentBytes = 4;

/// Coding of a PCIe preset, SKP rule included. [LNK-5.14, LNK-5.15, LNK-5.16]
LineCoding line_coding(const LinkPreset& preset, SkpMode skp);
/// The SKP ordered set of 1b/1b, and how far apart two are, in symbols per lane; that of 128b/130b
/// in time. Unverified, hence named. [LNK-11.12]
inline constexpr std::uint32_t kSkpSymbols1b1b = 40, kSkpDueSymbols1b1b = 740 * 16,
                               kSkpDueSymbols1b1bSris = 64 * 16;

/// Coding of a PCIe preset in flit mode, generation 6 included. REQUIRES: 1, 2, 4, 8 or 16 lanes.
/// [LNK-11.4] [LNK-11.12]
LineCoding flit_coding(const LinkPreset& preset, SkpMode skp);
/// Where a 68-byte flit may begin after idle, in symbols of a lane: at any of them, as if NULL
/// flits could be cut short. Were they whole, a flit would wait for the end of one, 2.1 ns at most
/// on 16 lanes of 32 GT/s. unverified [CXL-5.3]
inline constexpr std::uint32_t kFlit68StartRows = 1;

/// Coding of 68-byte flits: that of the preset, without tokens that end a data stream. [CXL-5.3]
LineCoding flit68_coding(const LinkPreset& preset, SkpMode skp);
/// The same wires as a plain stream of bits, without coding and SKP: the bit-packed carrier. model:
/// our choice.
LineCoding bit_stream(const LinkPreset& preset);

/// Time on the wire of one unit.
struct Placement {
  Time first;  ///< start of its first symbol
  Time last;   ///< end of its last symbol
};

/// The symbols of one direction, placed one unit after the other. All times come from integer
/// symbol counts. SKP ordered sets become due at fixed intervals; one that becomes due under a unit
/// follows it. [LNK-5.14] [LNK-5.15] [LNK-5.17]
class LaneStream {
 public:
  explicit LaneStream(const LineCoding& coding);

  /// Puts `symbols` symbols (bytes; bits of a bit stream) on the lanes, not before `earliest` and
  /// behind all placed so far.
  Placement place(std::uint32_t symbols, Time earliest);

  /// Start of the first symbol of a unit placed now with this `earliest`, but for SKP ordered sets
  /// that are due before it.
  Time next_start(Time earliest) const;
  /// End of the last symbol placed.
  Time free_at() const { return free_at_; }
  /// Lets the wire idle up to t, SKP ordered sets included. Afterwards free_at() is the first row
  /// that starts at or after t, all bits before it are accounted for and none behind it.
  void settle(Time t);

  /// SKP ordered sets come `blocks` blocks (symbols with 8b/10b) earlier than a period after the
  /// start. REQUIRES: blocks < skp_period(), nothing placed yet.
  void advance_skps(std::uint64_t blocks);
  /// From one SKP ordered set to the next on an idle wire, in blocks; 0: there are none.
  std::uint64_t skp_period() const {
    return coding_.skp_due_blocks == 0 ? 0 : coding_.skp_due_blocks + coding_.skp_blocks;
  }

  std::uint64_t phy_bits() const { return phy_bits_; }
  /// Bits of symbols that carried nothing, with their coding and the headers of empty blocks.
  std::uint64_t idle_bits() const { return idle_bits_; }
  std::uint64_t skps() const { return skps_; }
  /// All bits, coding included, that pass in `span`.
  std::uint64_t raw_bits(Time span) const {
    return static_cast<std::uint64_t>(span.fs / coding_.unit_interval_fs) * coding_.lanes;
  }
  Time symbol_time() const {
    return {coding_.unit_interval_fs * static_cast<std::int64_t>(coding_.ui_per_row)};
  }
  const LineCoding& coding() const { return coding_; }

 private:
  void skip_to(Time earliest);
  void idle_to_flit(std::uint64_t block);
  void idle_to(std::uint64_t block, std::uint32_t offset);
  void insert_skp();
  Time start_of_row() const;
  std::uint64_t next_boundary() const;
  void pass_idle(std::uint64_t block, std::uint32_t offset);
  void charge_blocks(std::uint64_t first, std::uint64_t last);
  Time time_of(std::uint64_t block, std::uint32_t offset_rows) const;

  LineCoding coding_;
  std::uint32_t block_symbols_;
  std::uint32_t block_ui_;
  Quotient by_block_;           ///< symbols to blocks
  Quotient by_lanes_;           ///< symbols to rows
  std::uint64_t block_ = 0;     ///< block of the next free byte
  std::uint32_t offset_ = 0;    ///< byte within it
  bool is_after_idle_ = false;  ///< what stands before the cursor is idle
  std::uint64_t next_skp_;      ///< block at which the next SKP ordered set is due
  std::uint64_t charged_ = 0;   ///< first block whose header is not yet accounted for
  std::uint64_t phy_bits_ = 0;
  std::uint64_t idle_bits_ = 0;
  std::uint64_t skps_ = 0;
  Time free_at_;
};

}  // namespace flitwise
