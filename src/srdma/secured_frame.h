// SPDX-License-Identifier: Apache-2.0
/// Frames whose transport nobody on the way can read: Ethernet, IP and UDP stay in clear, then come
/// a header of 8 bytes, all from BTH to ICRC as AES-GCM makes it, and a tag of 16. [KY-5]
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "common/byte_vector.h"
#include "crypto/aes_gcm.h"
#include "srdma/session.h"

namespace flitwise {

inline constexpr std::size_t kSecurityHeaderBytes = 8;
/// What security adds to a frame. [KY-5]
inline constexpr std::size_t kSecurityBytes = kSecurityHeaderBytes + kGcmTagBytes;

struct SecurityHeader {
  std::uint32_t key = 0;     ///< which key
  std::uint32_t number = 0;  ///< of the packet, the low half
};

/// Where an IPv4 frame of UDP has its parts; the form of all else is not looked at.
struct UdpFrame {
  SessionTuple tuple;  ///< as the frame has it
  std::size_t ip = 0, udp = 0;
  std::size_t body = 0, body_bytes = 0;  ///< of UDP
};
/// What is wrong with a frame up to its UDP header. [RX-1]
enum class UdpError : std::uint8_t { kNone, kIp, kUdpLength };
/// Checks 1 and 2 of section 11 but the FCS, which the port has taken off: lengths, checksum of IP,
/// length of UDP. model: session groups use IPv4 without options; a VLAN tag is taken.
UdpError read_udp(const std::uint8_t* bytes, std::size_t count, UdpFrame& frame);

/// Seals and opens frames. Nothing is allocated but room in the frame's own bytes.
class FrameSecurity {
 public:
  /// Turns a sealed RoCEv2 frame (seal_roce) into a secured one. The addresses and ports are
  /// authenticated too. REQUIRES: IPv4; number: not used with this key before.
  void seal(ByteVector& bytes, std::uint32_t key_id, std::uint64_t number, const SecretKey& key);
  /// Of a frame whose body is long enough. None: too short.
  static std::optional<SecurityHeader> header_of(const std::uint8_t* bytes, const UdpFrame& frame);
  /// Turns it back, in place. False: the tag is wrong, and the bytes are worth nothing.
  bool open(ByteVector& bytes, const UdpFrame& frame, std::uint64_t number, const SecretKey& key);

 private:
  AesGcm cipher_;
};

}  // namespace flitwise
