// SPDX-License-Identifier: Apache-2.0
/// Ports of hosts of mode packet in a capture (docs/formats/pcapng.md): headers as bytes, made of
/// the fields of packets; their payload is stored nowhere. It watches, and changes nothing. [OB-1]
#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "network/fabric_packet.h"
#include "srdma/cm_message.h"
#include "trace/frame_capture.h"

namespace flitwise {

class PacketCapture {
 public:
  struct Rules {
    bool is_secured = false;   ///< packets of sessions
    bool is_cm_plain = false;  ///< control messages are not secured
  };
  /// `ports`: numbers of the hosts that are captured.
  PacketCapture(const std::string& path, const Rules& rules, const std::vector<NodeId>& ports);

  /// A packet has started on the wire of its host; its last bit leaves at `end`. message: of a
  /// control packet.
  void leaves(NodeId host, FabricPackets::Index index, const FabricPacket& packet,
              const CmMessage* message, Time end, Time now);
  /// Its last bit has come to its host.
  void arrives(FabricPackets::Index index, const FabricPacket& packet, const CmMessage* message,
               Time now);
  void flush(Time now) { file_.flush(now); }

 private:
  struct Bytes {
    std::size_t kept = 0, whole = 0;  // of bytes_, and of the frame
  };
  Bytes make(const FabricPacket& packet, const CmMessage* message);
  void add(NodeId host, bool is_inbound, std::uint64_t number, const FabricPacket& packet,
           const CmMessage* message, Time time, Time now);

  const Rules rules_;
  FrameCapture file_;
  std::unordered_map<NodeId, std::uint32_t> ports_;
  std::unordered_map<FabricPackets::Index, std::uint64_t> numbers_;  // of packets on their way
  ByteVector bytes_;
};

}  // namespace flitwise
