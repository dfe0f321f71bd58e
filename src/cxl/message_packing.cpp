// SPDX-License-Identifier: Apache-2.0
// Messages into flits, with their bits and data.
#include "cxl/flit_codec.h"

#include <deque>

#include "common/ranges.h"
#include "cxl/message_fields.h"
#include "cxl/slot_packer.h"

namespace flitwise {
namespace {

using Chunk = std::array<std::uint8_t, kCxlChunkBytes>;

class Sender {
 public:
  Sender(const CxlSlotFormats& formats, const std::vector<CxlSend>& messages) : formats_(formats) {
    for (const CxlSend& send : messages) {
      queues_[index_of(send.message.channel)].push_back(&send);
    }
  }

  bool is_done() const {
    return chunks_.empty() && all_of(queues_, [](const auto& q) { return q.empty(); });
  }
  CxlWaiting waiting() const {
    CxlWaiting waiting;
    for (std::size_t i = 0; i < kCxlChannels; ++i) {
      waiting.count[i] = static_cast<std::uint16_t>(std::min<std::size_t>(queues_[i].size(), 0xff));
      const auto channel = static_cast<CxlChannel>(i);
      for (std::size_t n = 0; info_of(channel).may_have_byte_enables && n < queues_[i].size();
           ++n) {
        const bool is_partial = n < 64 && queues_[i][n]->message.is_partial();
        waiting.partial_lines |= is_partial ? std::uint64_t{1} << n : 0;
      }
    }
    return waiting;
  }
  CxlFlit flit_of(const CxlFlitLayout& layout) {
    CxlFlit flit;
    flit.header.has_byte_enables = layout.has_byte_enables;
    for (std::size_t i = 0; i < layout.slots; ++i) {
      const CxlPlace place = place_of(formats_.widths().form, i);
      CxlSlotContents slot;
      if (layout.slot[i].kind == CxlSlot::Kind::kMessages) {
        slot.format = layout.slot[i].format;
        put_messages(*formats_.find(place, slot.format), layout.slot[i].messages, slot);
      } else if (layout.slot[i].kind != CxlSlot::Kind::kEmpty) {
        slot.kind = layout.slot[i].kind;
        slot.format = kCxlDataFormat68;
        slot.chunk = chunks_.front();
        chunks_.pop_front();
      } else {  // the lowest code of messages there; none of them is valid [CXL-2.2] [CXL-4.2]
        slot.format = formats_.in(place).begin()->code;
      }
      flit.slots.push_back(slot);
    }
    return flit;
  }

 private:
  /// Messages in their places; places that are left free have no V.
  void put_messages(const CxlFormat& format, const CxlGroups& taken, CxlSlotContents& slot) {
    for (const CxlGroup& group : format.groups) {
      std::uint8_t count = 0;
      for (const CxlGroup& there : taken) {
        count = there.channel == group.channel ? there.count : count;
      }
      for (std::uint8_t n = 0; n < group.count; ++n) {
        CxlWireMessage wire;
        wire.is_valid = n < count;
        if (wire.is_valid) {
          send(group.channel, wire);
        }
        slot.messages.push_back(wire);
      }
    }
  }
  void send(CxlChannel channel, CxlWireMessage& wire) {
    auto& queue = queues_[index_of(channel)];
    const CxlSend& next = *queue.front();
    queue.pop_front();
    wire.message = next.message;
    wire.has_byte_enables = info_of(channel).may_have_byte_enables && next.message.is_partial();
    for (std::size_t at = 0; info_of(channel).has_data && at < kCxlLineBytes;
         at += kCxlChunkBytes) {
      Chunk chunk{};
      std::copy_n(next.line.begin() + at, kCxlChunkBytes, chunk.begin());
      chunks_.push_back(chunk);
    }
    if (wire.has_byte_enables) {
      Chunk chunk{};
      put_bits(chunk.data(), 0, 64, next.message.byte_enables);
      chunks_.push_back(chunk);
    }
  }

  const CxlSlotFormats& formats_;
  std::array<std::deque<const CxlSend*>, kCxlChannels> queues_;
  std::deque<Chunk> chunks_;
};

}  // namespace

std::vector<CxlFlit> pack_messages(const CxlSlotFormats& formats, CxlDirection direction,
                                   const std::vector<CxlSend>& messages) {
  CxlSlotPacker packer(formats.widths(), direction);
  Sender sender(formats, messages);
  std::vector<CxlFlit> flits;
  CxlFlitLayout layout;
  while (!sender.is_done()) {
    packer.pack(sender.waiting(), layout);
    flits.push_back(sender.flit_of(layout));
  }
  return flits;
}

}  // namespace flitwise
