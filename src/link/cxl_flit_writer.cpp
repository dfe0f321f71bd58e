// SPDX-License-Identifier: Apache-2.0
// Messages and data into the slots of a flit.
#include "link/cxl_flit_writer.h"

#include <algorithm>

#include "cxl/flit_frame.h"

namespace flitwise {
namespace {

constexpr std::uint32_t kChunkBits = kCxlChunkBytes * 8, kByteEnableBits = 64;

// Slots that stand whole in the first half of a latency-optimised flit; its CRC cuts the next one.
// [CXL-4.4]
constexpr std::size_t kSlotsOfHalf = 7;
constexpr std::size_t last_byte_of(std::size_t slot) {
  constexpr auto kForm = CxlFlitForm::k256LatencyOptimised;
  return flit_offset(kForm, slot_at(kForm, slot + 1) - 1);
}
static_assert(last_byte_of(kSlotsOfHalf - 1) < kCxlBytes256 / 2);
static_assert(last_byte_of(kSlotsOfHalf) >= kCxlBytes256 / 2);

// The code of its format, which slots of 256-byte flits begin with. [CXL-4.2]
constexpr std::uint32_t format_bits(CxlFlitForm form) {
  return form == CxlFlitForm::k68 ? 0 : static_cast<std::uint32_t>(first_message_bit(form, 0));
}

}  // namespace

void CxlFlitWriter::write(const CxlFlitLayout& layout, Flit& flit, WireSize& size) {
  for (std::size_t i = 0; i < layout.slots; ++i) {
    write_slot(layout.slot[i], layout.is_all_data ? CxlPlace::kG : place_of(widths_.form, i), flit,
               size);
    if (widths_.form == CxlFlitForm::k256LatencyOptimised && i + 1 == kSlotsOfHalf) {
      flit.starts_in_half = static_cast<std::uint8_t>(flit.starts.size());
      flit.ends_in_half = static_cast<std::uint8_t>(flit.ends.size());
    }
  }
}

void CxlFlitWriter::write_slot(const CxlSlot& slot, CxlPlace place, Flit& flit, WireSize& size) {
  switch (slot.kind) {
    case CxlSlot::Kind::kMessages:
      write_messages(slot, place, flit, size);
      break;
    case CxlSlot::Kind::kData:
      write_data(slot.ends_line, flit, size);
      break;
    case CxlSlot::Kind::kByteEnables:
      size.header += kByteEnableBits;
      size.padding += kChunkBits - kByteEnableBits;
      end_line(flit);  // they are the last of it [CXL-2.6] [CXL-4.3]
      break;
    case CxlSlot::Kind::kEmpty:
      size.idle += slot_bits(widths_.form, place) + format_bits(widths_.form);
      break;
  }
}

void CxlFlitWriter::write_messages(const CxlSlot& slot, CxlPlace place, Flit& flit,
                                   WireSize& size) {
  std::uint32_t bits = 0, identity = 0;
  for (const CxlGroup& group : slot.messages) {
    bits += group.count * widths_.of(group.channel);
    identity += group.count * widths_.added(group.channel);
    for (unsigned i = 0; i < group.count; ++i) {
      PacketRef packet = queues_.take(group.channel);
      if (packet->cxl->has_data()) {
        open_.push_back({packet, std::min(packet->payload_bytes, kCxlLineBytes) * 8});
      } else {
        flit.ends.push_back(packet);
      }
      flit.starts.push_back(std::move(packet));
    }
  }
  size.framing += format_bits(widths_.form);
  size.header += bits - identity;
  size.identity += identity;
  size.padding += slot_bits(widths_.form, place) - bits;
}

// What of a line is not asked for, or not enabled, is padding.
void CxlFlitWriter::write_data(bool ends_line, Flit& flit, WireSize& size) {
  OpenLine& line = open_.front();
  const std::uint32_t bits = std::min(line.payload_bits, kChunkBits);
  line.payload_bits -= bits;
  size.payload += bits;
  size.padding += kChunkBits - bits;
  if (ends_line) {
    end_line(flit);
  }
}

void CxlFlitWriter::end_line(Flit& flit) {
  flit.ends.push_back(std::move(open_.front().packet));
  open_.pop_front();
}

}  // namespace flitwise
