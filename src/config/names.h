// SPDX-License-Identifier: Apache-2.0
/// The spelling of every enumeration of the configuration, in files and in results.
#pragma once

#include <array>
#include <cstddef>
#include <string>

#include "flitwise/config.h"

namespace flitwise::config {

template <class E>
struct Named {
  const char* name;
  E value;
};

template <class E, std::size_t N>
constexpr std::array<Named<E>, N> names(const Named<E> (&list)[N]) {
  std::array<Named<E>, N> all{};
  for (std::size_t i = 0; i < N; ++i) {
    all[i] = list[i];
  }
  return all;
}

/// All names of E; a new enumeration adds one specialisation.
template <class E>
inline constexpr int kNames = 0;

template <>
inline constexpr auto kNames<Topology> = names<Topology>({{"direct", Topology::kDirect},
                                                          {"switch", Topology::kSwitch},
                                                          {"graph", Topology::kGraph}});
template <>
inline constexpr auto kNames<NodeKind> = names<NodeKind>({{"root_port", NodeKind::kRootPort},
                                                          {"switch", NodeKind::kSwitch},
                                                          {"device", NodeKind::kDevice}});
template <>
inline constexpr auto kNames<PeerRoute> = names<PeerRoute>({{"direct", PeerRoute::kDirect},
                                                            {"redirect", PeerRoute::kRedirect}});
template <>
inline constexpr auto kNames<SwitchMode> = names<SwitchMode>(
    {{"legacy", SwitchMode::kLegacy}, {"handle_aware", SwitchMode::kHandleAware}});
template <>
inline constexpr auto kNames<HostDhiTable> = names<HostDhiTable>(
    {{"per_device", HostDhiTable::kPerDevice}, {"shared", HostDhiTable::kShared}});
template <>
inline constexpr auto kNames<HandleStorage> =
    names<HandleStorage>({{"sram", HandleStorage::kSram}, {"dram", HandleStorage::kDram}});
template <>
inline constexpr auto kNames<DeallocMode> = names<DeallocMode>(
    {{"implicit", DeallocMode::kImplicit}, {"explicit", DeallocMode::kExplicit}});
template <>
inline constexpr auto kNames<GrantPolicy> =
    names<GrantPolicy>({{"any", GrantPolicy::kAny}, {"configured", GrantPolicy::kConfigured}});
template <>
inline constexpr auto kNames<UnknownDomain> = names<UnknownDomain>(
    {{"error", UnknownDomain::kError}, {"full_identity", UnknownDomain::kFullIdentity}});
template <>
inline constexpr auto kNames<Identity> = names<Identity>({{"none", Identity::kNone},
                                                          {"bdf", Identity::kBdf},
                                                          {"bdf_pasid", Identity::kBdfPasid},
                                                          {"dhi", Identity::kDhi}});
template <>
inline constexpr auto kNames<DhiForm> = names<DhiForm>({{"rid_direct", DhiForm::kRidDirect},
                                                        {"rid_fabric", DhiForm::kRidFabric},
                                                        {"tag", DhiForm::kTag},
                                                        {"prefix", DhiForm::kPrefix},
                                                        {"ohc", DhiForm::kOhc}});
template <>
inline constexpr auto kNames<Carrier> = names<Carrier>({{"pcie", Carrier::kPcie},
                                                        {"bit_packed", Carrier::kBitPacked}});
template <>
inline constexpr auto kNames<SkpMode> = names<SkpMode>({{"normal", SkpMode::kNormal},
                                                        {"sris", SkpMode::kSris},
                                                        {"off", SkpMode::kOff}});
template <>
inline constexpr auto kNames<Translation> =
    names<Translation>({{"off", Translation::kOff},
                        {"first_stage", Translation::kFirstStage},
                        {"second_stage", Translation::kSecondStage},
                        {"nested", Translation::kNested},
                        {"pass_through", Translation::kPassThrough}});
template <>
inline constexpr auto kNames<CachePolicy> = names<CachePolicy>({{"lru", CachePolicy::kLru},
                                                                {"fifo", CachePolicy::kFifo},
                                                                {"random", CachePolicy::kRandom}});
template <>
inline constexpr auto kNames<PageRequestOverflow> =
    names<PageRequestOverflow>({{"respond_success", PageRequestOverflow::kRespondSuccess},
                                {"drop", PageRequestOverflow::kDrop}});
template <>
inline constexpr auto kNames<UnmapMode> = names<UnmapMode>({{"strict", UnmapMode::kStrict},
                                                            {"deferred", UnmapMode::kDeferred}});
template <>
inline constexpr auto kNames<DriverWait> =
    names<DriverWait>({{"poll", DriverWait::kPoll}, {"interrupt", DriverWait::kInterrupt}});
template <>
inline constexpr auto kNames<DriverMistake> =
    names<DriverMistake>({{"none", DriverMistake::kNone},
                          {"device_first", DriverMistake::kDeviceFirst},
                          {"no_wait", DriverMistake::kNoWait},
                          {"no_device", DriverMistake::kNoDevice},
                          {"no_stop", DriverMistake::kNoStop},
                          {"no_pasid_cache", DriverMistake::kNoPasidCache},
                          {"no_revoke", DriverMistake::kNoRevoke}});
template <>
inline constexpr auto kNames<RelaxedPassing> =
    names<RelaxedPassing>({{"never", RelaxedPassing::kNever},
                           {"when_blocked", RelaxedPassing::kWhenBlocked},
                           {"eager", RelaxedPassing::kEager}});
template <>
inline constexpr auto kNames<Packing> = names<Packing>({{"aligned", Packing::kAligned},
                                                        {"contiguous", Packing::kContiguous}});
template <>
inline constexpr auto kNames<OnMiss> = names<OnMiss>({{"stall", OnMiss::kStall},
                                                      {"bypass", OnMiss::kBypass}});
template <>
inline constexpr auto kNames<AllocOrder> = names<AllocOrder>({{"flush", AllocOrder::kFlush},
                                                              {"ack", AllocOrder::kAck},
                                                              {"none", AllocOrder::kNone}});
template <>
inline constexpr auto kNames<VictimPolicy> = names<VictimPolicy>({{"fifo", VictimPolicy::kFifo},
                                                                  {"lru", VictimPolicy::kLru},
                                                                  {"lfu", VictimPolicy::kLfu}});
template <>
inline constexpr auto kNames<HandleManagement> = names<HandleManagement>(
    {{"device", HandleManagement::kDevice}, {"software", HandleManagement::kSoftware}});
template <>
inline constexpr auto kNames<AllocateAt> = names<AllocateAt>(
    {{"first_use", AllocateAt::kFirstUse}, {"context_creation", AllocateAt::kContextCreation}});
template <>
inline constexpr auto kNames<ContextSharing> = names<ContextSharing>(
    {{"shared", ContextSharing::kShared}, {"per_context", ContextSharing::kPerContext}});
template <>
inline constexpr auto kNames<WorkloadKind> =
    names<WorkloadKind>({{"posted_write", WorkloadKind::kPostedWrite},
                         {"read", WorkloadKind::kRead},
                         {"read_write", WorkloadKind::kReadWrite},
                         {"nic", WorkloadKind::kNic},
                         {"trace", WorkloadKind::kTrace},
                         {"hostile", WorkloadKind::kHostile}});
template <>
inline constexpr auto kNames<WorkloadVia> =
    names<WorkloadVia>({{"dma", WorkloadVia::kDma},
                        {"cxl_cache", WorkloadVia::kCxlCache},
                        {"cxl_mem", WorkloadVia::kCxlMem},
                        {"cxl_own", WorkloadVia::kCxlOwn},
                        {"cxl_both", WorkloadVia::kCxlBoth}});
template <>
inline constexpr auto kNames<CxlCoherence> =
    names<CxlCoherence>({{"hdm_h", CxlCoherence::kHdmH}, {"hdm_db", CxlCoherence::kHdmDb}});
template <>
inline constexpr auto kNames<CxlIdentity> =
    names<CxlIdentity>({{"spec", CxlIdentity::kSpec},
                        {"full_added", CxlIdentity::kFullAdded},
                        {"dhi_added", CxlIdentity::kDhiAdded}});
template <>
inline constexpr auto kNames<CxlCacheRead> = names<CxlCacheRead>({{"shared", CxlCacheRead::kShared},
                                                                  {"any", CxlCacheRead::kAny},
                                                                  {"current",
                                                                   CxlCacheRead::kCurrent}});
template <>
inline constexpr auto kNames<CxlCacheWrite> =
    names<CxlCacheWrite>({{"own", CxlCacheWrite::kOwn},
                          {"through", CxlCacheWrite::kThrough},
                          {"posted", CxlCacheWrite::kPosted}});
template <>
inline constexpr auto kNames<Arrival> = names<Arrival>({{"closed_loop", Arrival::kClosedLoop},
                                                        {"poisson", Arrival::kPoisson},
                                                        {"cbr", Arrival::kCbr},
                                                        {"on_off", Arrival::kOnOff}});
template <>
inline constexpr auto kNames<ReservedTailBit> = names<ReservedTailBit>(
    {{"error", ReservedTailBit::kError}, {"ignored", ReservedTailBit::kIgnored}});
template <>
inline constexpr auto kNames<PasidSpace> = names<PasidSpace>({{"function", PasidSpace::kFunction},
                                                              {"system", PasidSpace::kSystem}});
template <>
inline constexpr auto kNames<BufferPlacement> = names<BufferPlacement>(
    {{"ring", BufferPlacement::kRing}, {"random", BufferPlacement::kRandom}});
template <>
inline constexpr auto kNames<DomainChoice> =
    names<DomainChoice>({{"round_robin", DomainChoice::kRoundRobin},
                         {"uniform", DomainChoice::kUniform},
                         {"zipf", DomainChoice::kZipf},
                         {"working_set", DomainChoice::kWorkingSet},
                         {"churn", DomainChoice::kChurn}});
template <>
inline constexpr auto kNames<TranslateWhen> =
    names<TranslateWhen>({{"always", TranslateWhen::kAlways},
                          {"reuse", TranslateWhen::kReuse},
                          {"prefetch", TranslateWhen::kPrefetch},
                          {"hint", TranslateWhen::kHint}});
template <>
inline constexpr auto kNames<AtcDiscard> =
    names<AtcDiscard>({{"overlapping", AtcDiscard::kOverlapping}, {"all", AtcDiscard::kAll}});
template <>
inline constexpr auto kNames<MonitorMode> = names<MonitorMode>({{"on", MonitorMode::kOn},
                                                                {"off", MonitorMode::kOff}});
template <>
inline constexpr auto kNames<BrokenRule> =
    names<BrokenRule>({{"credits", BrokenRule::kCredits},
                       {"sequence", BrokenRule::kSequence},
                       {"ordering", BrokenRule::kOrdering},
                       {"tags", BrokenRule::kTags},
                       {"completion", BrokenRule::kCompletion},
                       {"boundary_4k", BrokenRule::kBoundary4k},
                       {"byte_enables", BrokenRule::kByteEnables},
                       {"at", BrokenRule::kAt},
                       {"handles", BrokenRule::kHandles},
                       {"single_writer", BrokenRule::kSingleWriter},
                       {"cxl_messages", BrokenRule::kCxlMessages}});
template <>
inline constexpr auto kNames<At> = names<At>({{"untranslated", At::kUntranslated},
                                              {"translated", At::kTranslated},
                                              {"translated_pasid", At::kTranslatedPasid}});

/// The name of a value as it stands in files; empty for a value that has no name.
template <class E>
std::string spelling(E value) {
  for (const Named<E>& named : kNames<E>) {
    if (named.value == value) {
      return named.name;
    }
  }
  return "";
}

}  // namespace flitwise::config
