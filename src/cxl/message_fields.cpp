// SPDX-License-Identifier: Apache-2.0
// The tables of message fields.
#include "cxl/message_fields.h"

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

template <std::size_t N>
constexpr CxlFields all_of(const CxlFieldSpec (&table)[N]) {
  return {table, N};
}

// By CxlChannel.
constexpr std::array<CxlFields, kCxlChannels> kFields68 = {
    all_of(kD2hReq68), all_of(kD2hRsp68),  all_of(kD2hData68), all_of(kH2dReq68),
    all_of(kH2dRsp68), all_of(kH2dData68), all_of(kM2sReq68),  all_of(kM2sRwd68),
    CxlFields{},       all_of(kS2mNdr68),  all_of(kS2mDrs68),  CxlFields{}};
constexpr std::array<CxlFields, kCxlChannels> kFields256 = {
    all_of(kD2hReq256),   all_of(kD2hRsp256),  all_of(kD2hData256), all_of(kH2dReq256),
    all_of(kH2dRsp256),   all_of(kH2dData256), all_of(kM2sReq256),  all_of(kM2sRwd256),
    all_of(kM2sBiRsp256), all_of(kS2mNdr256),  all_of(kS2mDrs256),  all_of(kS2mBiSnp256)};

/// By CxlChannel.
constexpr std::array<const char*, kCxlChannels> kIdNames = {
    "cqid", "uqid", "uqid", "uqid", "cqid", "cqid", "tag", "tag", "bi_tag", "tag", "tag", "bi_tag"};

struct FieldInfo {
  const char* name;  ///< in JSON
  FieldAccess<CxlMessage> value{};
};
/// By CxlField.
constexpr std::array<FieldInfo, 23> kInfos = {{
    {nullptr},
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
    {"has_byte_enables"},
    {nullptr},
    {nullptr},
}};

}  // namespace

CxlFields fields_of(CxlFlitForm form, CxlChannel channel) {
  return (form == CxlFlitForm::k68 ? kFields68 : kFields256)[index_of(channel)];
}

const char* name_of(CxlField field, CxlChannel channel) {
  return field == F::kId ? kIdNames[index_of(channel)]
                         : kInfos[static_cast<std::size_t>(field)].name;
}

std::uint64_t value_of(const CxlMessage& message, CxlFieldSpec spec) {
  const FieldInfo& info = kInfos[static_cast<std::size_t>(spec.field)];
  const std::uint64_t value = info.value.get == nullptr ? 0 : info.value.get(message);
  return spec.field == F::kAddress ? value >> lowest_address_bit(spec.bits) : value;
}

void set_value(CxlMessage& message, CxlFieldSpec spec, std::uint64_t value) {
  const FieldInfo& info = kInfos[static_cast<std::size_t>(spec.field)];
  if (info.value.set != nullptr) {
    info.value.set(message,
                   spec.field == F::kAddress ? value << lowest_address_bit(spec.bits) : value);
  }
}

}  // namespace flitwise
