// SPDX-License-Identifier: Apache-2.0
// The tables of channels and opcodes.
#include "cxl/channels.h"

namespace flitwise {
namespace {

constexpr auto kDown = CxlDirection::kDownstream;
constexpr auto kUp = CxlDirection::kUpstream;
constexpr auto kCache = CxlProtocol::kCache;
constexpr auto kMem = CxlProtocol::kMem;

using Credits = std::array<std::uint8_t, kCxlCredits>;
constexpr Credits kReq = {1, 0, 0}, kRsp = {0, 1, 0}, kData = {0, 0, 1};

template <class Opcode>
constexpr CxlOpcodeName named(Opcode opcode, const char* name) {
  return {static_cast<std::uint8_t>(opcode), name};
}
constexpr std::array kD2hReq = {named(cxl::D2hReq::kRdCurr, "RdCurr"),
                                named(cxl::D2hReq::kRdOwn, "RdOwn"),
                                named(cxl::D2hReq::kRdShared, "RdShared"),
                                named(cxl::D2hReq::kRdAny, "RdAny"),
                                named(cxl::D2hReq::kRdOwnNoData, "RdOwnNoData"),
                                named(cxl::D2hReq::kItoMWr, "ItoMWr"),
                                named(cxl::D2hReq::kWrCur, "WrCur"),
                                named(cxl::D2hReq::kClFlush, "CLFlush"),
                                named(cxl::D2hReq::kCleanEvict, "CleanEvict"),
                                named(cxl::D2hReq::kDirtyEvict, "DirtyEvict"),
                                named(cxl::D2hReq::kCleanEvictNoData, "CleanEvictNoData"),
                                named(cxl::D2hReq::kWoWrInv, "WOWrInv"),
                                named(cxl::D2hReq::kWoWrInvF, "WOWrInvF"),
                                named(cxl::D2hReq::kWrInv, "WrInv"),
                                named(cxl::D2hReq::kCacheFlushed, "CacheFlushed")};
constexpr std::array kD2hRsp = {
    named(cxl::D2hRsp::kRspIHitI, "RspIHitI"),   named(cxl::D2hRsp::kRspVHitV, "RspVHitV"),
    named(cxl::D2hRsp::kRspIHitSE, "RspIHitSE"), named(cxl::D2hRsp::kRspSHitSE, "RspSHitSE"),
    named(cxl::D2hRsp::kRspSFwdM, "RspSFwdM"),   named(cxl::D2hRsp::kRspIFwdM, "RspIFwdM"),
    named(cxl::D2hRsp::kRspVFwdV, "RspVFwdV")};
constexpr std::array kH2dReq = {named(cxl::H2dReq::kSnpData, "SnpData"),
                                named(cxl::H2dReq::kSnpInv, "SnpInv"),
                                named(cxl::H2dReq::kSnpCur, "SnpCur")};
constexpr std::array kH2dRsp = {named(cxl::H2dRsp::kWritePull, "WritePull"),
                                named(cxl::H2dRsp::kGo, "GO"),
                                named(cxl::H2dRsp::kGoWritePull, "GO_WritePull"),
                                named(cxl::H2dRsp::kExtCmp, "ExtCmp"),
                                named(cxl::H2dRsp::kGoWritePullDrop, "GO_WritePull_Drop"),
                                named(cxl::H2dRsp::kFastGoWritePull, "Fast_GO_WritePull"),
                                named(cxl::H2dRsp::kGoErrWritePull, "GO_ERR_WritePull")};
constexpr std::array kM2sReq = {
    named(cxl::M2sReq::kMemInv, "MemInv"),       named(cxl::M2sReq::kMemRd, "MemRd"),
    named(cxl::M2sReq::kMemRdData, "MemRdData"), named(cxl::M2sReq::kMemRdFwd, "MemRdFwd"),
    named(cxl::M2sReq::kMemWrFwd, "MemWrFwd"),   named(cxl::M2sReq::kMemSpecRd, "MemSpecRd"),
    named(cxl::M2sReq::kMemInvNt, "MemInvNT"),   named(cxl::M2sReq::kMemClnEvct, "MemClnEvct")};
constexpr std::array kM2sRwd = {named(cxl::M2sRwd::kMemWr, "MemWr"),
                                named(cxl::M2sRwd::kMemWrPtl, "MemWrPtl"),
                                named(cxl::M2sRwd::kBiConflict, "BIConflict")};
constexpr std::array kM2sBiRsp = {named(cxl::M2sBiRsp::kBiRspI, "BIRspI"),
                                  named(cxl::M2sBiRsp::kBiRspS, "BIRspS"),
                                  named(cxl::M2sBiRsp::kBiRspE, "BIRspE")};
constexpr std::array kS2mNdr = {named(cxl::S2mNdr::kCmp, "Cmp"), named(cxl::S2mNdr::kCmpS, "Cmp-S"),
                                named(cxl::S2mNdr::kCmpE, "Cmp-E"),
                                named(cxl::S2mNdr::kCmpM, "Cmp-M"),
                                named(cxl::S2mNdr::kBiConflictAck, "BIConflictAck")};
constexpr std::array kS2mDrs = {named(cxl::S2mDrs::kMemData, "MemData"),
                                named(cxl::S2mDrs::kMemDataNxm, "MemData-NXM")};
constexpr std::array kS2mBiSnp = {named(cxl::S2mBiSnp::kBiSnpCur, "BISnpCur"),
                                  named(cxl::S2mBiSnp::kBiSnpData, "BISnpData"),
                                  named(cxl::S2mBiSnp::kBiSnpInv, "BISnpInv")};

template <class Table>
constexpr CxlOpcodes all_of(const Table& table) {
  return {table.data(), table.size()};
}
/// By CxlChannel; data headers have none.
constexpr CxlOpcodes kOpcodes[kCxlChannels] = {all_of(kD2hReq), all_of(kD2hRsp), {nullptr, 0},
                                               all_of(kH2dReq), all_of(kH2dRsp), {nullptr, 0},
                                               all_of(kM2sReq), all_of(kM2sRwd), all_of(kM2sBiRsp),
                                               all_of(kS2mNdr), all_of(kS2mDrs), all_of(kS2mBiSnp)};

}  // namespace

constexpr std::array<CxlChannelInfo, kCxlChannels> kCxlChannelInfos = {{
    {"D2H Req", kUp, kCache, false, false, kReq, 79, 76},
    {"D2H Rsp", kUp, kCache, false, false, kRsp, 20, 24},
    {"D2H Data", kUp, kCache, true, true, kData, 17, 24},
    {"H2D Req", kDown, kCache, false, false, kReq, 64, 72},
    {"H2D Rsp", kDown, kCache, false, false, kRsp, 32, 40},
    {"H2D Data", kDown, kCache, true, false, kData, 24, 28},
    {"M2S Req", kDown, kMem, false, false, kReq, 87, 100},
    {"M2S RwD", kDown, kMem, true, true, kData, 87, 104},
    {"M2S BIRsp", kDown, kMem, false, false, kRsp, 0, 40},
    {"S2M NDR", kUp, kMem, false, false, kRsp, 30, 40},
    {"S2M DRS", kUp, kMem, true, false, kData, 40, 40},
    {"S2M BISnp", kUp, kMem, false, false, kReq, 0, 84},
}};

std::optional<CxlChannel> find_cxl_channel(std::string_view name) {
  for (std::size_t i = 0; i < kCxlChannels; ++i) {
    if (name == kCxlChannelInfos[i].name) {
      return static_cast<CxlChannel>(i);
    }
  }
  return std::nullopt;
}

CxlOpcodes opcodes_of(CxlChannel channel) {
  return kOpcodes[index_of(channel)];
}

const char* cxl_opcode_name(CxlChannel channel, std::uint8_t code) {
  for (const CxlOpcodeName& opcode : opcodes_of(channel)) {
    if (opcode.code == code) {
      return opcode.name;
    }
  }
  return nullptr;
}

std::optional<std::uint8_t> find_cxl_opcode(CxlChannel channel, std::string_view name) {
  for (const CxlOpcodeName& opcode : opcodes_of(channel)) {
    if (name == opcode.name) {
      return opcode.code;
    }
  }
  return std::nullopt;
}

}  // namespace flitwise
