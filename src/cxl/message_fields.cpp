// SPDX-License-Identifier: Apache-2.0
// The tables of message fields.
#include "cxl/message_fields.h"

#include <array>

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

}  // namespace

CxlFields fields_of(CxlFlitForm form, CxlChannel channel) {
  return (form == CxlFlitForm::k68 ? kFields68 : kFields256)[index_of(channel)];
}

std::uint64_t value_of(const CxlMessage& message, CxlFieldSpec spec) {
  switch (spec.field) {
    case F::kOpcode:
      return message.opcode;
    case F::kId:
      return message.id;
    case F::kAddress:
      return message.address >> lowest_address_bit(spec.bits);
    case F::kRspData:
      return message.rsp_data;
    case F::kRspPre:
      return message.rsp_pre;
    case F::kSnpType:
      return message.snp_type;
    case F::kMetaField:
      return message.meta_field;
    case F::kMetaValue:
      return message.meta_value;
    case F::kTrafficClass:
      return message.traffic_class;
    case F::kLdId:
      return message.ld_id;
    case F::kCacheId:
      return message.cache_id;
    case F::kCkid:
      return message.ckid;
    case F::kBiId:
      return message.bi_id;
    case F::kDevLoad:
      return message.dev_load;
    case F::kNonTemporal:
      return message.non_temporal ? 1 : 0;
    case F::kPoison:
      return message.poison ? 1 : 0;
    case F::kBogus:
      return message.bogus ? 1 : 0;
    case F::kGoErr:
      return message.go_err ? 1 : 0;
    case F::kChunkValid:
      return message.chunk_valid ? 1 : 0;
    case F::kValid:
    case F::kByteEnables:
    case F::kTrailer:
    case F::kReserved:
      break;
  }
  return 0;
}

void set_value(CxlMessage& message, CxlFieldSpec spec, std::uint64_t value) {
  const auto byte = static_cast<std::uint8_t>(value);
  const auto word = static_cast<std::uint16_t>(value);
  switch (spec.field) {
    case F::kOpcode:
      message.opcode = byte;
      return;
    case F::kId:
      message.id = word;
      return;
    case F::kAddress:
      message.address = value << lowest_address_bit(spec.bits);
      return;
    case F::kRspData:
      message.rsp_data = word;
      return;
    case F::kRspPre:
      message.rsp_pre = byte;
      return;
    case F::kSnpType:
      message.snp_type = byte;
      return;
    case F::kMetaField:
      message.meta_field = byte;
      return;
    case F::kMetaValue:
      message.meta_value = byte;
      return;
    case F::kTrafficClass:
      message.traffic_class = byte;
      return;
    case F::kLdId:
      message.ld_id = byte;
      return;
    case F::kCacheId:
      message.cache_id = byte;
      return;
    case F::kCkid:
      message.ckid = word;
      return;
    case F::kBiId:
      message.bi_id = word;
      return;
    case F::kDevLoad:
      message.dev_load = byte;
      return;
    case F::kNonTemporal:
      message.non_temporal = value != 0;
      return;
    case F::kPoison:
      message.poison = value != 0;
      return;
    case F::kBogus:
      message.bogus = value != 0;
      return;
    case F::kGoErr:
      message.go_err = value != 0;
      return;
    case F::kChunkValid:
      message.chunk_valid = value != 0;
      return;
    case F::kValid:
    case F::kByteEnables:
    case F::kTrailer:
    case F::kReserved:
      return;
  }
}

}  // namespace flitwise
