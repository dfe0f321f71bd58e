// SPDX-License-Identifier: Apache-2.0
// The tables of message fields, and messages by them.
#include "cxl/message_fields.h"

#include <algorithm>
#include <array>

#include "common/field_access.h"

namespace flitwise {
namespace {

using F = CxlField;

// 68-byte flits. [CXL-1.3]
constexpr CxlFieldSpec kD2hReq68[] = {{F::kValid, 1},       {F::kOpcode, 5},   {F::kId, 12},
                                      {F::kNonTemporal, 1}, {F::kReserved, 7}, {F::kAddress, 46},
                                      {F::kReserved, 7}};
constexpr CxlFieldSpec kD2hRsp68[] = {
    {F::kValid, 1}, {F::kOpcode, 5}, {F::kId, 12}, {F::kReserved, 2}};
constexpr CxlFieldSpec kD2hData68[] = {{F::kValid, 1}, {F::kId, 12},    {F::kChunkValid, 1},
                                       {F::kBogus, 1}, {F::kPoison, 1}, {F::kReserved, 1}};
constexpr CxlFieldSpec kH2dReq68[] = {
    {F::kValid, 1}, {F::kOpcode, 3}, {F::kAddress, 46}, {F::kId, 12}, {F::kReserved, 2}};
constexpr CxlFieldSpec kH2dRsp68[] = {{F::kValid, 1},  {F::kOpcode, 4}, {F::kRspData, 12},
                                      {F::kRspPre, 2}, {F::kId, 12},    {F::kReserved, 1}};
constexpr CxlFieldSpec kH2dData68[] = {{F::kValid, 1},  {F::kId, 12},   {F::kChunkValid, 1},
                                       {F::kPoison, 1}, {F::kGoErr, 1}, {F::kReserved, 8}};
constexpr CxlFieldSpec kM2sReq68[] = {{F::kValid, 1},     {F::kOpcode, 4},       {F::kSnpType, 3},
                                      {F::kMetaField, 2}, {F::kMetaValue, 2},    {F::kId, 16},
                                      {F::kAddress, 47},  {F::kTrafficClass, 2}, {F::kLdId, 4},
                                      {F::kReserved, 6}};
constexpr CxlFieldSpec kM2sRwd68[] = {{F::kValid, 1},     {F::kOpcode, 4},    {F::kSnpType, 3},
                                      {F::kMetaField, 2}, {F::kMetaValue, 2}, {F::kId, 16},
                                      {F::kAddress, 46},  {F::kPoison, 1},    {F::kTrafficClass, 2},
                                      {F::kLdId, 4},      {F::kReserved, 6}};
constexpr CxlFieldSpec kS2mNdr68[] = {{F::kValid, 1},     {F::kOpcode, 3}, {F::kMetaField, 2},
                                      {F::kMetaValue, 2}, {F::kId, 16},    {F::kLdId, 4},
                                      {F::kDevLoad, 2}};
constexpr CxlFieldSpec kS2mDrs68[] = {{F::kValid, 1},     {F::kOpcode, 3},  {F::kMetaField, 2},
                                      {F::kMetaValue, 2}, {F::kId, 16},     {F::kPoison, 1},
                                      {F::kLdId, 4},      {F::kDevLoad, 2}, {F::kReserved, 9}};

// 256-byte flits. [CXL-1.4]
constexpr CxlFieldSpec kD2hReq256[] = {{F::kValid, 1},       {F::kOpcode, 5},  {F::kId, 12},
                                       {F::kNonTemporal, 1}, {F::kCacheId, 4}, {F::kReserved, 3},
                                       {F::kAddress, 46},    {F::kReserved, 4}};
constexpr CxlFieldSpec kD2hRsp256[] = {
    {F::kValid, 1}, {F::kOpcode, 5}, {F::kId, 12}, {F::kReserved, 6}};
constexpr CxlFieldSpec kD2hData256[] = {{F::kValid, 1},  {F::kId, 12},         {F::kBogus, 1},
                                        {F::kPoison, 1}, {F::kByteEnables, 1}, {F::kReserved, 8}};
constexpr CxlFieldSpec kH2dReq256[] = {{F::kValid, 1}, {F::kOpcode, 3},  {F::kAddress, 46},
                                       {F::kId, 12},   {F::kCacheId, 4}, {F::kReserved, 6}};
constexpr CxlFieldSpec kH2dRsp256[] = {{F::kValid, 1},   {F::kOpcode, 4}, {F::kRspData, 12},
                                       {F::kRspPre, 2},  {F::kId, 12},    {F::kCacheId, 4},
                                       {F::kReserved, 5}};
constexpr CxlFieldSpec kH2dData256[] = {{F::kValid, 1}, {F::kId, 12},     {F::kPoison, 1},
                                        {F::kGoErr, 1}, {F::kCacheId, 4}, {F::kReserved, 9}};
constexpr CxlFieldSpec kM2sReq256[] = {{F::kValid, 1},     {F::kOpcode, 4},      {F::kSnpType, 3},
                                       {F::kMetaField, 2}, {F::kMetaValue, 2},   {F::kId, 16},
                                       {F::kAddress, 46},  {F::kLdId, 4},        {F::kCkid, 13},
                                       {F::kReserved, 7},  {F::kTrafficClass, 2}};
constexpr CxlFieldSpec kM2sRwd256[] = {
    {F::kValid, 1},       {F::kOpcode, 4}, {F::kSnpType, 3},  {F::kMetaField, 2},
    {F::kMetaValue, 2},   {F::kId, 16},    {F::kAddress, 46}, {F::kPoison, 1},
    {F::kByteEnables, 1}, {F::kLdId, 4},   {F::kCkid, 13},    {F::kReserved, 9},
    {F::kTrafficClass, 2}};
constexpr CxlFieldSpec kM2sBiRsp256[] = {{F::kValid, 1}, {F::kOpcode, 4},  {F::kBiId, 12},
                                         {F::kId, 12},   {F::kAddress, 2}, {F::kReserved, 9}};
constexpr CxlFieldSpec kS2mNdr256[] = {{F::kValid, 1},     {F::kOpcode, 3},   {F::kMetaField, 2},
                                       {F::kMetaValue, 2}, {F::kId, 16},      {F::kLdId, 4},
                                       {F::kDevLoad, 2},   {F::kReserved, 10}};
constexpr CxlFieldSpec kS2mDrs256[] = {
    {F::kValid, 1},  {F::kOpcode, 3},  {F::kMetaField, 2}, {F::kMetaValue, 2}, {F::kId, 16},
    {F::kPoison, 1}, {F::kDevLoad, 2}, {F::kLdId, 4},      {F::kTrailer, 1},   {F::kReserved, 8}};
constexpr CxlFieldSpec kS2mBiSnp256[] = {{F::kValid, 1}, {F::kOpcode, 4},   {F::kBiId, 12},
                                         {F::kId, 12},   {F::kAddress, 46}, {F::kReserved, 9}};

// By CxlChannel.
constexpr std::array<CxlFields, kCxlChannels> kFields68 = {
    kD2hReq68, kD2hRsp68, kD2hData68,  kH2dReq68, kH2dRsp68, kH2dData68,
    kM2sReq68, kM2sRwd68, CxlFields{}, kS2mNdr68, kS2mDrs68, CxlFields{}};
constexpr std::array<CxlFields, kCxlChannels> kFields256 = {
    kD2hReq256, kD2hRsp256, kD2hData256,  kH2dReq256, kH2dRsp256, kH2dData256,
    kM2sReq256, kM2sRwd256, kM2sBiRsp256, kS2mNdr256, kS2mDrs256, kS2mBiSnp256};

/// By CxlChannel.
constexpr std::array<const char*, kCxlChannels> kIdNames = {
    "cqid", "uqid", "uqid", "uqid", "cqid", "cqid", "tag", "tag", "bi_tag", "tag", "tag", "bi_tag"};

struct FieldInfo {
  const char* name;  ///< in JSON
  FieldAccess<CxlMessage> value{};
  bool CxlWireMessage::*flag = nullptr;  ///< of those that are no part of the message
};
/// By CxlField.
constexpr std::array<FieldInfo, 23> kInfos = {{
    {nullptr, {}, &CxlWireMessage::is_valid},
    {"opcode", field_access<&CxlMessage::opcode>},
    {nullptr, field_access<&CxlMessage::id>},  // by channel
    {"address", field_access<&CxlMessage::address>},
    {"rsp_data", field_access<&CxlMessage::rsp_data>},
    {"rsp_pre", field_access<&CxlMessage::rsp_pre>},
    {"snp_type", field_access<&CxlMessage::snp_type>},
    {"meta_field", field_access<&CxlMessage::meta_field>},
    {"meta_value", field_access<&CxlMessage::meta_value>},
    {"tc", field_access<&CxlMessage::traffic_class>},
    {"ld_id", field_access<&CxlMessage::ld_id>},
    {"cache_id", field_access<&CxlMessage::cache_id>},
    {"ckid", field_access<&CxlMessage::ckid>},
    {"bi_id", field_access<&CxlMessage::bi_id>},
    {"dev_load", field_access<&CxlMessage::dev_load>},
    {"nt", field_access<&CxlMessage::non_temporal>},
    {"poison", field_access<&CxlMessage::poison>},
    {"bogus", field_access<&CxlMessage::bogus>},
    {"go_err", field_access<&CxlMessage::go_err>},
    {"chunk_valid", field_access<&CxlMessage::chunk_valid>},
    {"has_byte_enables", {}, &CxlWireMessage::has_byte_enables},
    {nullptr, {}, &CxlWireMessage::has_trailer},
    {nullptr},
}};

/// Calls field(spec, at) for each field of the message that begins at bit `at`, and identity(at,
/// first, count) for each piece of the identity: reserved bits first, then behind the message.
/// [CXL-1.5]
template <class Field, class Identity>
void for_fields(CxlChannel channel, const CxlWidths& widths, std::size_t at, Field field,
                Identity identity) {
  std::uint32_t done = 0;
  const std::uint32_t total = channel == CxlChannel::kD2hReq ? widths.identity_bits : 0;
  const auto take_identity = [&](std::uint32_t room) {
    if (const std::uint32_t count = std::min(room, total - done); count > 0) {
      identity(at, done, count);
      done += count;
    }
  };
  for (const CxlFieldSpec& spec : fields_of(widths.form, channel)) {
    if (spec.field == F::kReserved) {
      take_identity(spec.bits);
    } else {
      field(spec, at);
    }
    at += spec.bits;
  }
  take_identity(kMostIdentityBits);
}

}  // namespace

CxlFields fields_of(CxlFlitForm form, CxlChannel channel) {
  return (form == CxlFlitForm::k68 ? kFields68 : kFields256)[index_of(channel)];
}

const char* name_of(CxlField field, CxlChannel channel) {
  return field == F::kId ? kIdNames[index_of(channel)]
                         : kInfos[static_cast<std::size_t>(field)].name;
}

std::uint64_t value_of(const CxlWireMessage& wire, CxlFieldSpec spec) {
  const FieldInfo& info = kInfos[static_cast<std::size_t>(spec.field)];
  if (info.value.get == nullptr) {
    return info.flag != nullptr && wire.*info.flag ? 1 : 0;
  }
  const std::uint64_t value = info.value.get(wire.message);
  return spec.field == F::kAddress ? value >> lowest_address_bit(spec.bits) : value;
}

void set_value(CxlWireMessage& wire, CxlFieldSpec spec, std::uint64_t value) {
  const FieldInfo& info = kInfos[static_cast<std::size_t>(spec.field)];
  if (info.value.set != nullptr) {
    info.value.set(wire.message,
                   spec.field == F::kAddress ? value << lowest_address_bit(spec.bits) : value);
  } else if (info.flag != nullptr) {
    wire.*info.flag = value != 0;
  }
}

void put_message(const CxlWireMessage& wire, const CxlWidths& widths, std::uint8_t* bytes,
                 std::size_t at) {
  for_fields(
      wire.message.channel, widths, at,
      [&](CxlFieldSpec spec, std::size_t bit) {
        put_bits(bytes, bit, spec.bits, value_of(wire, spec));
      },
      [&](std::size_t bit, std::uint32_t first, std::uint32_t count) {
        put_bits(bytes, bit, count, wire.message.identity >> first);
      });
}

CxlWireMessage message_at(CxlChannel channel, const CxlWidths& widths, const std::uint8_t* bytes,
                          std::size_t at) {
  CxlWireMessage wire;
  wire.message.channel = channel;
  for_fields(
      channel, widths, at,
      [&](CxlFieldSpec spec, std::size_t bit) {
        set_value(wire, spec, bits_at(bytes, bit, spec.bits));
      },
      [&](std::size_t bit, std::uint32_t first, std::uint32_t count) {
        wire.message.identity |= bits_at(bytes, bit, count) << first;
      });
  return wire;
}

}  // namespace flitwise
