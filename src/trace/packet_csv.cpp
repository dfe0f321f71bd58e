// SPDX-License-Identifier: Apache-2.0
// Lines of the packet trace.
#include "trace/trace_sink.h"

#include <fmt/format.h>

#include <iterator>
#include <string_view>

#include "tlp/wire_size.h"
#include "trace/packet_note.h"
#include "trace/trace_file.h"

namespace flitwise {
namespace {

/// requester_id, tag, address, length_dw and pasid of a TLP; empty cells elsewhere.
std::string tlp_cells(const Packet& packet) {
  if (packet.kind != PacketKind::kTlp) {
    return ",,,,";
  }
  const Tlp& tlp = packet.tlp;
  return fmt::format("{},{},{:#x},{},{}", text_of(tlp.requester_id), tlp.tag, tlp.address,
                     tlp.length_dw, tlp.has_pasid ? std::to_string(to_int(tlp.pasid)) : "");
}

class PacketCsv final : public TraceSink {
 public:
  explicit PacketCsv(const std::string& path) : file_(path) {
    constexpr std::string_view kColumns =
        "first_ns,last_ns,link,direction,type,uid,sequence,replay,damaged,requester_id,tag,"
        "address,length_dw,pasid,payload_bytes,header_bits,identity_bits,payload_bits,"
        "padding_bits,framing_bits,crc_bits,dllp_bits,fec_bits,idle_bits\n";
    file_.write(kColumns.data(), kColumns.size());
  }

  void record(const TraceEvent& event) override {
    if (!event.is_shown) {
      return;
    }
    const Packet& packet = *event.packet;
    const bool is_tlp_in_flit = event.is_in_flit && packet.kind == PacketKind::kTlp;
    const WireSize size = is_tlp_in_flit
                              ? flit_mode_size_of(packet.tlp, packet.payload_bytes, packet.purpose)
                              : packet.size;
    fmt::memory_buffer line;
    fmt::format_to(std::back_inserter(line), "{:.6f},{:.6f},{},{},{},{},{},{},{},{},{}",
                   event.first.ns(), event.last.ns(), event.link, event.is_up ? "up" : "down",
                   kind_of(packet), packet.uid, event.sequence, event.is_replay ? 1 : 0,
                   event.is_damaged ? 1 : 0, tlp_cells(packet), packet.payload_bytes);
    fmt::format_to(std::back_inserter(line), ",{},{},{},{},{},{},{},{},{}\n", size.header,
                   size.identity, size.payload, size.padding, size.framing, size.crc, size.dllp,
                   size.fec, size.idle);
    file_.write(line.data(), line.size());
  }

  void flush() override { file_.flush(); }

 private:
  TraceFile file_;
};

}  // namespace

std::unique_ptr<TraceSink> packet_csv(const std::string& path) {
  return std::make_unique<PacketCsv>(path);
}

}  // namespace flitwise
