// SPDX-License-Identifier: Apache-2.0
/// Messages of CXL.cache and CXL.mem: channels, opcodes and fields. How many bits each has on the
/// wire, and in which slots, depends on the flit: src/cxl. [CXL-1.1] [CXL-1.2]
#pragma once

#include <cstddef>
#include <cstdint>

namespace flitwise {

/// D2H: device to host, H2D: host to device (CXL.cache). M2S: master (host) to subordinate
/// (memory), S2M: the other way (CXL.mem).
enum class CxlChannel : std::uint8_t {
  kD2hReq,
  kD2hRsp,
  kD2hData,
  kH2dReq,
  kH2dRsp,
  kH2dData,
  kM2sReq,
  kM2sRwd,    ///< request with data
  kM2sBiRsp,  ///< answer to a back-invalidate snoop; 256-byte flits only
  kS2mNdr,    ///< no data response
  kS2mDrs,    ///< data response
  kS2mBiSnp,  ///< back-invalidate snoop; 256-byte flits only
};
inline constexpr std::size_t kCxlChannels = 12;
inline constexpr std::uint32_t kCxlLineBytes = 64, kCxlChunkBytes = 16,
                               kCxlChunksPerLine = kCxlLineBytes / kCxlChunkBytes;

inline constexpr std::uint32_t kCxlIds = 4096;  ///< CQIDs, UQIDs, BITags: 12 bits

/// Opcodes as they stand in the message. [CXL-1.2]
namespace cxl {
enum class D2hReq : std::uint8_t {
  kRdCurr = 0x1,
  kRdOwn = 0x2,
  kRdShared = 0x3,
  kRdAny = 0x4,
  kRdOwnNoData = 0x5,
  kItoMWr = 0x6,
  kWrCur = 0x7,
  kClFlush = 0x8,
  kCleanEvict = 0x9,
  kDirtyEvict = 0xA,
  kCleanEvictNoData = 0xB,
  kWoWrInv = 0xC,
  kWoWrInvF = 0xD,
  kWrInv = 0xE,
  kCacheFlushed = 0x10,
};
/// D2H Rsp: what the snooped cache had and keeps. [COH-4.1]
enum class D2hRsp : std::uint8_t {
  kRspIHitI = 0x4,
  kRspVHitV = 0x6,
  kRspIHitSE = 0x5,
  kRspSHitSE = 0x1,
  kRspSFwdM = 0x7,
  kRspIFwdM = 0xF,
  kRspVFwdV = 0x16,
};
enum class H2dReq : std::uint8_t { kSnpData = 0x1, kSnpInv = 0x2, kSnpCur = 0x3 };
enum class H2dRsp : std::uint8_t {
  kWritePull = 0x1,
  kGo = 0x4,
  kGoWritePull = 0x5,
  kExtCmp = 0x6,
  kGoWritePullDrop = 0x8,
  kFastGoWritePull = 0xD,
  kGoErrWritePull = 0xF,
};
/// What RspData of a GO grants: the state of the line in the device cache. One source has the
/// codes. [COH-2.5]
enum class GoState : std::uint16_t {
  kInvalid = 0x3,
  kShared = 0x1,
  kExclusive = 0x2,
  kModified = 0x6,
  kError = 0x4
};
enum class M2sReq : std::uint8_t {
  kMemInv = 0x0,
  kMemRd = 0x1,
  kMemRdData = 0x2,
  kMemRdFwd = 0x3,
  kMemWrFwd = 0x4,
  kMemSpecRd = 0x8,
  kMemInvNt = 0x9,
  kMemClnEvct = 0xA,
};
enum class M2sRwd : std::uint8_t { kMemWr = 0x1, kMemWrPtl = 0x2, kBiConflict = 0x4 };
enum class S2mNdr : std::uint8_t {
  kCmp = 0x0,
  kCmpS = 0x1,
  kCmpE = 0x2,
  kCmpM = 0x3,
  kBiConflictAck = 0x4
};
enum class S2mDrs : std::uint8_t { kMemData = 0x0, kMemDataNxm = 0x1 };
/// Back-invalidate snoops and their answers.
enum class S2mBiSnp : std::uint8_t { kBiSnpCur = 0x0, kBiSnpData = 0x1, kBiSnpInv = 0x2 };
enum class M2sBiRsp : std::uint8_t { kBiRspI = 0x0, kBiRspS = 0x1, kBiRspE = 0x2 };
/// Snoop type of an M2S request: what the device does to its own cache.
enum class SnpType : std::uint8_t { kNoOp = 0x0, kSnpData = 0x1, kSnpCur = 0x2, kSnpInv = 0x3 };
/// MetaField: is there a host state in MetaValue?
enum class MetaField : std::uint8_t { kMeta0State = 0x0, kNoOp = 0x3 };
/// MetaValue of Meta0-State: what the host may hold.
enum class MetaValue : std::uint8_t { kInvalid = 0x0, kAny = 0x2, kShared = 0x3 };
}  // namespace cxl

/// One message, header only; a line of data or a part of one goes along with D2H Data, H2D Data,
/// M2S RwD and S2M DRS. Fields that a channel does not have are 0.
struct CxlMessage {
  CxlChannel channel = CxlChannel::kM2sReq;
  std::uint8_t opcode = 0;    ///< one of namespace cxl, by channel; data headers have none
  std::uint16_t id = 0;       ///< CQID, UQID (12 bits), Tag (16) or BITag (12)
  std::uint64_t address = 0;  ///< byte address of the line: a multiple of 64, below 2^52
  /// Bit i: byte i of the line is written; of a read, is asked for, which is not on the wire.
  std::uint64_t byte_enables = ~std::uint64_t{0};
  std::uint16_t rsp_data = 0;      ///< H2D Rsp: UQID to pull data for, or GoState; 12 bits
  std::uint8_t rsp_pre = 0;        ///< H2D Rsp: performance hint; 2 bits
  std::uint8_t snp_type = 0;       ///< M2S
  std::uint8_t meta_field = 0;     ///< M2S, S2M
  std::uint8_t meta_value = 0;     ///< M2S, S2M
  std::uint8_t traffic_class = 0;  ///< M2S; 2 bits
  std::uint8_t ld_id = 0;          ///< logical device; 4 bits
  std::uint16_t ckid = 0;          ///< M2S in 256-byte flits: context key; 13 bits
  std::uint8_t cache_id = 0;       ///< 256-byte flits; 4 bits
  std::uint16_t bi_id = 0;         ///< 256-byte flits; 12 bits
  std::uint8_t dev_load = 0;       ///< S2M; 2 bits
  bool non_temporal = false;       ///< D2H Req
  bool poison = false;
  bool bogus = false;   ///< D2H Data: the line was lost to a snoop meanwhile
  bool go_err = false;  ///< H2D Data
  /// Cache data headers of 68-byte flits: which half of a line a transfer of 32 bytes has.
  bool chunk_valid = false;
  std::uint64_t identity =
      0;  ///< D2H Req: domain field or handle, where the form has one [DHI D24]

  /// Only a part of the line is written: byte enables go with it.
  bool is_partial() const { return byte_enables != ~std::uint64_t{0}; }
  bool has_data() const {
    return channel == CxlChannel::kD2hData || channel == CxlChannel::kH2dData ||
           channel == CxlChannel::kM2sRwd || channel == CxlChannel::kS2mDrs;
  }
};

}  // namespace flitwise
