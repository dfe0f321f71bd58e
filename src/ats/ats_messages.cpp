// SPDX-License-Identifier: Apache-2.0
// Fields of ATS and PRI messages. [LNK-4.4] [LNK-4.5] [LNK-4.6] [LNK-4.7] [LNK-4.8]
#include "ats/ats_messages.h"

#include <string>

#include "common/page.h"
#include "flitwise/error.h"

namespace flitwise {

namespace {
constexpr std::uint64_t kBodySize = 1U << 11;
constexpr std::uint64_t kBodyGlobal = 1U << 0;
constexpr unsigned kIdShift = 16;
constexpr unsigned kPrgIndexShift = 3;
constexpr std::uint32_t kLastBit = 1U << 2, kWriteBit = 1U << 1, kReadBit = 1U << 0;
constexpr unsigned kCodeShift = 12;
constexpr std::uint32_t kPrgIndexMask = kPrgIndices - 1;

Tlp message(TlpType type, MsgRouting routing, std::uint8_t code, Bdf sender) {
  Tlp tlp;
  tlp.type = type;
  tlp.is_4dw = true;
  tlp.routing = routing;
  tlp.message_code = code;
  tlp.requester_id = sender;
  return tlp;
}

void set_pasid(Tlp& tlp, OptionalId<Pasid> pasid) {
  if (pasid.has_value()) {
    tlp.has_pasid = true;
    tlp.pasid = *pasid;
  }
}

OptionalId<Pasid> pasid_of(const Tlp& tlp) {
  return tlp.has_pasid ? OptionalId<Pasid>(tlp.pasid) : OptionalId<Pasid>();
}

Bdf destination_of(const Tlp& tlp) {
  return {static_cast<std::uint16_t>(tlp.message_dw2 >> kIdShift)};
}
}  // namespace

Tlp invalidate_request_tlp(const InvalidateRequest& request, std::uint8_t* body) {
  FLITWISE_CHECK(request.itag < kItags, "ITag " + std::to_string(request.itag));
  Tlp tlp = message(TlpType::kMsgD, MsgRouting::kById, msg::kInvalidateRequest, request.agent);
  tlp.tag = request.itag;
  tlp.length_dw = kInvalidateBodyBytes / 4;
  tlp.message_dw2 = std::uint32_t{request.function.value} << kIdShift;
  set_pasid(tlp, request.pasid);
  const SizeField field = encode_range(request.range);
  store_wire_u64(body,
                 field.address | (field.s ? kBodySize : 0) | (request.is_global ? kBodyGlobal : 0));
  return tlp;
}

InvalidateRequest invalidate_request_of(const Tlp& tlp, const std::uint8_t* body) {
  const std::uint64_t fields = load_wire_u64(body);
  const DecodedRange decoded = decode_range(fields, (fields & kBodySize) != 0);
  InvalidateRequest request;
  request.agent = tlp.requester_id;
  request.function = destination_of(tlp);
  request.itag = static_cast<std::uint8_t>(tlp.tag % kItags);
  request.range = decoded.range;
  request.is_undefined = decoded.is_undefined;
  request.pasid = pasid_of(tlp);
  request.is_global = (fields & kBodyGlobal) != 0;
  return request;
}

Tlp invalidate_completion_tlp(const InvalidateCompletion& completion) {
  FLITWISE_CHECK(completion.completion_count >= 1 && completion.completion_count <= 8,
                 "Completion Count " + std::to_string(completion.completion_count));
  Tlp tlp =
      message(TlpType::kMsg, MsgRouting::kById, msg::kInvalidateCompletion, completion.function);
  tlp.tc = completion.tc;
  tlp.message_dw2 =
      std::uint32_t{completion.agent.value} << kIdShift | (completion.completion_count & 7U);
  tlp.message_dw3 = completion.itag_vector;
  return tlp;
}

InvalidateCompletion invalidate_completion_of(const Tlp& tlp) {
  const auto count = static_cast<std::uint8_t>(tlp.message_dw2 & 7U);
  return {destination_of(tlp), tlp.requester_id, tlp.tc, count == 0 ? std::uint8_t{8} : count,
          tlp.message_dw3};
}

Tlp page_request_tlp(const PageRequest& request) {
  FLITWISE_CHECK(request.prg_index < kPrgIndices && (request.page & kPageOffset) == 0,
                 "PRG Index " + std::to_string(request.prg_index));
  Tlp tlp = message(TlpType::kMsg, MsgRouting::kToRootComplex, msg::kPageRequest, request.function);
  tlp.relaxed_ordering = request.relaxed_ordering;
  set_pasid(tlp, request.pasid);
  tlp.privileged_mode_requested = tlp.has_pasid && request.privileged;
  tlp.execute_requested = tlp.has_pasid && request.execute;
  tlp.message_dw2 = static_cast<std::uint32_t>(request.page >> 32);
  tlp.message_dw3 = static_cast<std::uint32_t>(request.page) |
                    std::uint32_t{request.prg_index} << kPrgIndexShift |
                    (request.is_last ? kLastBit : 0U) | (request.write ? kWriteBit : 0U) |
                    (request.read ? kReadBit : 0U);
  return tlp;
}

PageRequest page_request_of(const Tlp& tlp) {
  PageRequest request;
  request.function = tlp.requester_id;
  request.pasid = pasid_of(tlp);
  request.privileged = tlp.has_pasid && tlp.privileged_mode_requested;
  request.execute = tlp.has_pasid && tlp.execute_requested;
  request.page = (std::uint64_t{tlp.message_dw2} << 32 | tlp.message_dw3) & kPageAddress;
  request.prg_index = static_cast<std::uint16_t>(tlp.message_dw3 >> kPrgIndexShift & kPrgIndexMask);
  request.is_last = (tlp.message_dw3 & kLastBit) != 0;
  request.write = (tlp.message_dw3 & kWriteBit) != 0;
  request.read = (tlp.message_dw3 & kReadBit) != 0;
  request.relaxed_ordering = tlp.relaxed_ordering;
  return request;
}

PrgCode prg_code_of(std::uint8_t wire_code) {
  return wire_code <= 1 ? static_cast<PrgCode>(wire_code) : PrgCode::kResponseFailure;
}

Tlp prg_response_tlp(const PrgResponse& response) {
  FLITWISE_CHECK(response.prg_index < kPrgIndices && response.code < 16,
                 "PRG Index " + std::to_string(response.prg_index));
  Tlp tlp = message(TlpType::kMsg, MsgRouting::kById, msg::kPrgResponse, response.agent);
  set_pasid(tlp, response.pasid);
  tlp.message_dw2 = std::uint32_t{response.function.value} << kIdShift |
                    std::uint32_t{response.code} << kCodeShift | response.prg_index;
  return tlp;
}

PrgResponse prg_response_of(const Tlp& tlp) {
  return {tlp.requester_id,
          destination_of(tlp),
          static_cast<std::uint16_t>(tlp.message_dw2 & kPrgIndexMask),
          static_cast<std::uint8_t>(tlp.message_dw2 >> kCodeShift & 0xfU),
          pasid_of(tlp),
          tlp.id_is_handle};
}

PrgResponse prg_response_to(const PageRequest& last, Bdf agent, PrgCode code, bool wants_pasid) {
  PrgResponse response;
  response.agent = agent;
  response.function = last.function;
  response.prg_index = last.prg_index;
  response.code = static_cast<std::uint8_t>(code);
  if (wants_pasid || code == PrgCode::kResponseFailure) {
    response.pasid = last.pasid;
  }
  return response;
}

}  // namespace flitwise
