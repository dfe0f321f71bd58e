// SPDX-License-Identifier: Apache-2.0
/// Arbitration of a CXL link between CXL.io and CXL.cache/mem (ARB/MUX): flits in turn, weighted,
/// while both have something to send; else whoever has goes. [CXL-5.5]
#pragma once

namespace flitwise {

class CxlArbiter {
 public:
  /// Weights: flits of each in a row, at least 1.
  CxlArbiter(unsigned io_weight, unsigned cachemem_weight)
      : io_weight_(io_weight), cachemem_weight_(cachemem_weight) {}

  /// Does a flit of CXL.io go? REQUIRES: one of them has something to send.
  bool io_goes(bool has_io, bool has_cachemem) {
    if (!has_io || !has_cachemem) {
      return has_io;
    }
    if (left_ == 0) {
      is_io_turn_ = !is_io_turn_;
      left_ = is_io_turn_ ? io_weight_ : cachemem_weight_;
    }
    --left_;
    return is_io_turn_;
  }

 private:
  unsigned io_weight_, cachemem_weight_;
  bool is_io_turn_ = false;
  unsigned left_ = 0;
};

}  // namespace flitwise
