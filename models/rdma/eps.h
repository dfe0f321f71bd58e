// SPDX-License-Identifier: Apache-2.0
/// Firmware of an RDMA adapter that translates the addresses of static structures ahead of use: the
/// EPS of an HCA, in time. Software writes their address registers by MMIO; Translation Requests
/// leave by the function of the device. Pretranslation has the rules. [EP-1] to [EP-13]
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "common/component.h"
#include "common/wakeup.h"
#include "endpoint/bar_access.h"
#include "endpoint/static_seams.h"
#include "hca/pretranslation.h"
#include "rdma/eps_result.h"
#include "rdma/hca_config.h"

namespace flitwise {

/// Where the driver of a function writes a structure down: 16 bytes each, in the order of
/// StaticStructure. Eight bytes of address, and eight that take effect: of size, with what is
/// allowed in the highest bit.
struct StructureRegisters {
  static constexpr std::uint64_t kBytes = 16 * std::uint64_t{kStaticStructures};
  static constexpr std::uint64_t kAllowed = std::uint64_t{1} << 63;
  static constexpr std::uint64_t offset_of(StaticStructure structure) {
    return 16 * static_cast<std::uint64_t>(structure);
  }
};

class Eps final : public ComponentModule, private StaticTranslations, private RegionOwner {
 public:
  struct Hooks {
    /// The access of this token has touched a structure.
    std::function<void(std::uint32_t token, bool is_translated)> touched;
    std::function<bool()> counts;  ///< is this the measured part?
  };
  /// device: whose row of results it is. domains: in whose name the structures of each function are
  /// read and written, function 0 first.
  Eps(const sc_core::sc_module_name& name, std::string device, const HcaConfig& config,
      std::vector<DomainId> domains, Hooks hooks);

  /// The registers of each function in its BAR 0.
  void claim(BarMap& map);
  StaticTranslations& structures() { return *this; }
  /// Before the simulation starts.
  void connect(TranslationInterface& requests) { requests_ = &requests; }
  const Pretranslation& rules() const { return rules_; }
  /// The reset of a function begins, 0: of all. Answers that are under way are of no use. [EP-13]
  void reset(unsigned function);
  /// The physical function puts the adapter out of service, or back. [HP-9]
  void serve(bool is_served);

  bool is_quiet() const override { return true; }  // its requests are their function's
  void start_window() override { before_ = totals(); }
  void report(RunResult& result) const override;
  std::vector<CheckResult> checks_at_rest() const override;

 private:
  StructureAccess access(const StructureBytes& bytes) override;
  void begin(const StructureBytes& bytes, std::uint32_t token) override;
  void end(unsigned function, StaticStructure structure) override;
  void answered(std::uint32_t request, const TranslationEntry* translation, Time now) override;
  void invalidated(unsigned function, unsigned itag, const PageRange& range,
                   const InvalidationScope& scope, Time now) override;
  void enabled(unsigned function, bool is_enabled, Time now) override;
  void mmio_write(const MmioPlace& place, const std::uint8_t* bytes, std::size_t size,
                  Time now) override;
  void mmio_read(const MmioRead& read, BarAccess& access, Time now) override;

  void work();
  void look_at(Time when);
  void rest(Time now);
  void wake_waiters(Time now);
  std::uint64_t offset_of(const StructureBytes& bytes) const;
  bool is_written(unsigned function, StaticStructure structure) const {
    return rules_.at(function, structure).bytes > 0;
  }
  EpsCounters totals() const;

  const std::string device_;
  const HcaConfig config_;
  const std::vector<DomainId> domains_;
  const Hooks hooks_;
  Pretranslation rules_;
  Wakeup wakeup_;
  TranslationInterface* requests_ = nullptr;
  /// Of each function: addresses whose size has not been written.
  std::vector<std::array<std::uint64_t, kStaticStructures>> written_;
  Time due_ = Time::never();    // it looks at all structures
  bool was_cut_short_ = false;  // the last look, as too many requests were out
  bool has_waiters_ = false;    // accesses, for cleared structures
  std::uint64_t sent_ = 0;      // requests
  EpsCounters before_;
};

}  // namespace flitwise
