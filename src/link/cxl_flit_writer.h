// SPDX-License-Identifier: Apache-2.0
/// What a packer has decided becomes a flit: messages leave their queues, lines are handed on when
/// their last chunk goes, and all bits of the slots are booked by cause. [CXL-2.5] [CXL-4.3]
#pragma once

#include <cstdint>
#include <deque>

#include "cxl/flit_layout.h"
#include "flitwise/flit.h"
#include "link/cxl_queues.h"

namespace flitwise {

class CxlFlitWriter {
 public:
  /// Takes messages from `queues`, which outlive it.
  CxlFlitWriter(const CxlWidths& widths, CxlQueues& queues) : queues_(queues), widths_(widths) {}

  const CxlWidths& widths() const { return widths_; }
  /// Fills the slots of a flit and adds their bits to `size`. REQUIRES: the layout was packed from
  /// what the queues have waiting, and all layouts before it were written.
  void write(const CxlFlitLayout& layout, Flit& flit, WireSize& size);
  /// The link has gone down: lines that are not yet whole are forgotten.
  void reset() { open_.clear(); }

 private:
  /// A message whose line is not yet whole.
  struct OpenLine {
    PacketRef packet;
    std::uint32_t payload_bits = 0;  // enabled ones that are still to come
  };

  void write_slot(const CxlSlot& slot, CxlPlace place, Flit& flit, WireSize& size);
  void write_messages(const CxlSlot& slot, CxlPlace place, Flit& flit, WireSize& size);
  void write_data(bool ends_line, Flit& flit, WireSize& size);
  void end_line(Flit& flit);

  CxlQueues& queues_;
  const CxlWidths widths_;
  std::deque<OpenLine> open_;  // in the order of their headers
};

}  // namespace flitwise
