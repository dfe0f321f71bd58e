// SPDX-License-Identifier: Apache-2.0
// The tables of channels and opcodes.
#include "cxl/channels.h"

#include "common/ranges.h"

namespace flitwise {
namespace cxl {
namespace {

constexpr CxlOpcodeName kD2hReqNames[] = {{D2hReq::kRdCurr, "RdCurr"},
                                          {D2hReq::kRdOwn, "RdOwn"},
                                          {D2hReq::kRdShared, "RdShared"},
                                          {D2hReq::kRdAny, "RdAny"},
                                          {D2hReq::kRdOwnNoData, "RdOwnNoData"},
                                          {D2hReq::kItoMWr, "ItoMWr"},
                                          {D2hReq::kWrCur, "WrCur"},
                                          {D2hReq::kClFlush, "CLFlush"},
                                          {D2hReq::kCleanEvict, "CleanEvict"},
                                          {D2hReq::kDirtyEvict, "DirtyEvict"},
                                          {D2hReq::kCleanEvictNoData, "CleanEvictNoData"},
                                          {D2hReq::kWoWrInv, "WOWrInv"},
                                          {D2hReq::kWoWrInvF, "WOWrInvF"},
                                          {D2hReq::kWrInv, "WrInv"},
                                          {D2hReq::kCacheFlushed, "CacheFlushed"}};
constexpr CxlOpcodeName kD2hRspNames[] = {
    {D2hRsp::kRspIHitI, "RspIHitI"},   {D2hRsp::kRspVHitV, "RspVHitV"},
    {D2hRsp::kRspIHitSE, "RspIHitSE"}, {D2hRsp::kRspSHitSE, "RspSHitSE"},
    {D2hRsp::kRspSFwdM, "RspSFwdM"},   {D2hRsp::kRspIFwdM, "RspIFwdM"},
    {D2hRsp::kRspVFwdV, "RspVFwdV"}};
constexpr CxlOpcodeName kH2dReqNames[] = {
    {H2dReq::kSnpData, "SnpData"}, {H2dReq::kSnpInv, "SnpInv"}, {H2dReq::kSnpCur, "SnpCur"}};
constexpr CxlOpcodeName kH2dRspNames[] = {{H2dRsp::kWritePull, "WritePull"},
                                          {H2dRsp::kGo, "GO"},
                                          {H2dRsp::kGoWritePull, "GO_WritePull"},
                                          {H2dRsp::kExtCmp, "ExtCmp"},
                                          {H2dRsp::kGoWritePullDrop, "GO_WritePull_Drop"},
                                          {H2dRsp::kFastGoWritePull, "Fast_GO_WritePull"},
                                          {H2dRsp::kGoErrWritePull, "GO_ERR_WritePull"}};
constexpr CxlOpcodeName kM2sReqNames[] = {
    {M2sReq::kMemInv, "MemInv"},       {M2sReq::kMemRd, "MemRd"},
    {M2sReq::kMemRdData, "MemRdData"}, {M2sReq::kMemRdFwd, "MemRdFwd"},
    {M2sReq::kMemWrFwd, "MemWrFwd"},   {M2sReq::kMemSpecRd, "MemSpecRd"},
    {M2sReq::kMemInvNt, "MemInvNT"},   {M2sReq::kMemClnEvct, "MemClnEvct"}};
constexpr CxlOpcodeName kM2sRwdNames[] = {{M2sRwd::kMemWr, "MemWr"},
                                          {M2sRwd::kMemWrPtl, "MemWrPtl"},
                                          {M2sRwd::kBiConflict, "BIConflict"}};
constexpr CxlOpcodeName kM2sBiRspNames[] = {
    {M2sBiRsp::kBiRspI, "BIRspI"}, {M2sBiRsp::kBiRspS, "BIRspS"}, {M2sBiRsp::kBiRspE, "BIRspE"}};
constexpr CxlOpcodeName kS2mNdrNames[] = {{S2mNdr::kCmp, "Cmp"},
                                          {S2mNdr::kCmpS, "Cmp-S"},
                                          {S2mNdr::kCmpE, "Cmp-E"},
                                          {S2mNdr::kCmpM, "Cmp-M"},
                                          {S2mNdr::kBiConflictAck, "BIConflictAck"}};
constexpr CxlOpcodeName kS2mDrsNames[] = {{S2mDrs::kMemData, "MemData"},
                                          {S2mDrs::kMemDataNxm, "MemData-NXM"}};
constexpr CxlOpcodeName kS2mBiSnpNames[] = {{S2mBiSnp::kBiSnpCur, "BISnpCur"},
                                            {S2mBiSnp::kBiSnpData, "BISnpData"},
                                            {S2mBiSnp::kBiSnpInv, "BISnpInv"}};

}  // namespace
}  // namespace cxl

namespace {

constexpr auto kDown = CxlDirection::kDownstream;
constexpr auto kUp = CxlDirection::kUpstream;
constexpr auto kCache = CxlProtocol::kCache;
constexpr auto kMem = CxlProtocol::kMem;

using Credits = std::array<std::uint8_t, kCxlCredits>;
constexpr Credits kReqCredit = {1, 0, 0}, kRspCredit = {0, 1, 0}, kDataCredit = {0, 0, 1};

}  // namespace

constexpr std::array<CxlChannelInfo, kCxlChannels> kCxlChannelInfos = {{
    {"D2H Req", kUp, kCache, false, false, kReqCredit, 79, 76, cxl::kD2hReqNames},
    {"D2H Rsp", kUp, kCache, false, false, kRspCredit, 20, 24, cxl::kD2hRspNames},
    {"D2H Data", kUp, kCache, true, true, kDataCredit, 17, 24, {}},
    {"H2D Req", kDown, kCache, false, false, kReqCredit, 64, 72, cxl::kH2dReqNames},
    {"H2D Rsp", kDown, kCache, false, false, kRspCredit, 32, 40, cxl::kH2dRspNames},
    {"H2D Data", kDown, kCache, true, false, kDataCredit, 24, 28, {}},
    {"M2S Req", kDown, kMem, false, false, kReqCredit, 87, 100, cxl::kM2sReqNames},
    {"M2S RwD", kDown, kMem, true, true, kDataCredit, 87, 104, cxl::kM2sRwdNames},
    {"M2S BIRsp", kDown, kMem, false, false, kRspCredit, 0, 40, cxl::kM2sBiRspNames},
    {"S2M NDR", kUp, kMem, false, false, kRspCredit, 30, 40, cxl::kS2mNdrNames},
    {"S2M DRS", kUp, kMem, true, false, kDataCredit, 40, 40, cxl::kS2mDrsNames},
    {"S2M BISnp", kUp, kMem, false, false, kReqCredit, 0, 84, cxl::kS2mBiSnpNames},
}};

std::optional<CxlChannel> find_cxl_channel(std::string_view name) {
  for (std::size_t i = 0; i < kCxlChannels; ++i) {
    if (name == kCxlChannelInfos[i].name) {
      return static_cast<CxlChannel>(i);
    }
  }
  return std::nullopt;
}

const char* cxl_opcode_name(CxlChannel channel, std::uint8_t code) {
  const CxlOpcodeName* const found =
      find_where(info_of(channel).opcodes,
                 [code](const CxlOpcodeName& opcode) { return opcode.code == code; });
  return found == nullptr ? nullptr : found->name;
}

std::optional<std::uint8_t> find_cxl_opcode(CxlChannel channel, std::string_view name) {
  const CxlOpcodeName* const found =
      find_where(info_of(channel).opcodes,
                 [name](const CxlOpcodeName& opcode) { return name == opcode.name; });
  return found == nullptr ? std::nullopt : std::optional(found->code);
}

}  // namespace flitwise
