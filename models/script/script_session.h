// SPDX-License-Identifier: Apache-2.0
/// A machine and the operations that drive it: what scripts and corner cases share.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "codec/json_value.h"
#include "flitwise/config.h"
#include "iommu/table_builder.h"
#include "script/codec_script.h"
#include "script/hca_script.h"
#include "script/pio_script.h"
#include "script/rdma_script.h"
#include "script/script_engine.h"
#include "script/script_line.h"
#include "script/script_output.h"
#include "script/srdma_script.h"
#include "system/machine.h"

namespace flitwise {

class ScriptSession {
 public:
  /// boots: host software brings the machine up over the link, in as much time as that takes; else
  /// everything stands at once as software would leave it, without BARs. watches_wires: from the
  /// end of the set-up on every unit on every wire is an event.
  ScriptSession(const Config& config, bool boots, bool watches_wires, ScriptOutput& output);

  /// Executes one operation; what it causes, now or later, carries its token (ScriptOutput::begin).
  /// False where it asks for something that is not there; `bad_value` has been told.
  bool execute(const ScriptLine& line, std::uint32_t token);
  void execute(const PioLine& line);    ///< its answers have no names and no time
  void execute(const RdmaLine& line);   ///< its answers have no time
  void execute(const HcaLine& line);    ///< likewise
  void execute(const SrdmaLine& line);  ///< likewise
  /// Lets time pass up to `when`, counted from the end of the set-up; nothing where it has passed.
  void wait_until(Time when);
  void run_until_idle();
  RunResult result() const { return machine_.result(); }
  /// Tells of each fault that has not struck all it was to strike, unless it may miss.
  void tell_missed_faults();

 private:
  /// How often an outcome is looked for.
  static constexpr Time kSlice = Time::from_ns(20);

  void run(const PokeOp& op);
  void run(const PeekOp& op);
  void run(const TlpOp& op);
  void run(const DmaOp& op);
  void run(const RunOp& op);
  void run(const MmioOp& op);
  void run(const CfgOp& op);
  std::optional<unsigned> offset_of(const CfgOp& op);
  HostAnswer wait_for_host(const std::function<void(HostBridge::Done)>& access);
  void report_failure(const HostAnswer& answer);
  void run(const FaultOp& op);
  void run(const DllpOp& op);
  void run(const DhiOp& op);
  void run(const CxlOp& op);
  void run(const HandleOp& op);
  void run(const ResultOp& op);
  void run(const StartOp& /*op*/) { machine_.start(); }
  void run(const PioOp& op);
  void run(const RdmaOp& op);
  void run(const HcaOp& op);
  void run(const SrdmaOp& op);
  /// Those that need no machine.
  template <class Op>
  auto run(const Op& op) -> decltype(std::declval<CodecScript&>().run(op, 0U)) {
    codecs_.run(op, token_);
  }
  void run(const ResetOp& op);
  void reset_below(Bdf port);
  void take_link_down(Bdf port);
  void reset_function(Bdf function);
  void reset_with_handles(Bdf function, unsigned pcie, unsigned device);
  unsigned pcie_capability(Bdf function);
  HostAnswer wait_for_config(const CfgAccess& access);
  std::optional<std::uint32_t> config_read(Bdf target, unsigned offset);
  void config_write(Bdf target, unsigned offset, std::uint32_t value);
  void run(const IommuOp& op);
  void run(const TranslateOp& op);
  void run(const FaultRecordOp& op);
  void run(const InvalidateOp& op);
  void run(const MapOp& op);
  void run(const PermitOp& op);
  void run(const PokeEntryOp& op);
  TableBuilder& tables();
  void begin();
  void run_until_event(const RunOp& op);
  void watch_wires();
  void observe(const Observation& observation);
  bool has_port(const std::string& name);
  Link* link_of(const WireOp& wire);
  /// The device at this port or below it; null where there is none, and `bad_value` has been told.
  const FabricDevice* device_at(const std::string& port);
  void finish_write(const DmaOp& op, unsigned tlps);
  void finish_read(Bdf requester, Endpoint& endpoint, ScriptEngine& engine);
  void bad_value(const std::string& message);
  /// None of the names that this kind of thing has.
  void bad_name(const std::string& key, const std::string& kind, const std::string& name,
                const std::vector<std::string>& names);

  Machine machine_;
  ScriptOutput& output_;
  CodecScript codecs_{output_};
  std::map<std::string, std::unique_ptr<ScriptEngine>> engines_;  // by device
  std::vector<std::unique_ptr<WireWatch>> watches_;               // by link
  std::unique_ptr<PioScript> pio_;                                // once a line needs it
  std::unique_ptr<RdmaScript> rdma_;                              // likewise
  std::unique_ptr<HcaScript> hca_;                                // likewise
  std::unique_ptr<SrdmaScript> srdma_;                            // likewise
  std::optional<TableBuilder> tables_;                            // once something is mapped
  std::optional<std::uint32_t> queue_tail_;  // of invalidations that are not submitted yet
  std::uint32_t token_ = 0;                  // of the operation at hand
  unsigned outcomes_ = 0;                    // of its TLPs: written or refused
  unsigned refused_ = 0;                     // of its TLPs, for any reason
  bool is_good_ = true;                      // the operation at hand
  bool has_begun_ = false;
  bool waits_for_host_ = false;  // for the answer to an access of software
};

}  // namespace flitwise
