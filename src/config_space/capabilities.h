// SPDX-License-Identifier: Apache-2.0
/// The capabilities that functions of the model have, each made by one function, and typed views on
/// the fields that the timed model reads.
#pragma once

#include <array>
#include <cstdint>
#include <optional>

#include "config_space/capability.h"
#include "config_space/config_space.h"
#include "config_space/registers.h"
#include "flitwise/ids.h"
#include "flitwise/tlp.h"

namespace flitwise {

// ---- power management
Capability power_management_capability();

// ---- MSI-X: table and pending bits in one BAR
struct MsixOptions {
  unsigned vectors = 32;  ///< 1..2048
  unsigned bar = 0;       ///< BAR register index, 0..5
  std::uint32_t table_offset = 0;
  std::uint32_t pba_offset = 0x8000;
};
Capability msix_capability(const MsixOptions& options);
struct MsixControl {
  bool is_enabled = false, is_masked = false;  ///< the function as a whole
};
/// Of a function that has it.
MsixControl msix_control(const ConfigSpace& space);

// ---- PCI Express
/// Generation and width as the link registers show them.
struct PortLink {
  unsigned generation = 5;       ///< 1..6
  unsigned lanes = 16;           ///< 1..32
  bool can_be_disabled = false;  ///< of a downstream port: Link Disable takes effect [LNK-10.4]
};
struct PcieOptions {
  cfg::pcie::PortType type = cfg::pcie::PortType::kEndpoint;
  PortLink link;
  unsigned max_mps = 4096;   ///< supported, 128..4096
  bool extended_tag = true;  ///< 8-bit tags supported
  bool ten_bit_tag = true;   ///< 10-bit tags supported, requester and completer
  std::uint8_t port_number = 0;
  bool is_virtual = false;      ///< of a VF: what its PF controls for it is reserved
  std::uint32_t completes = 0;  ///< more of Device Capabilities 2: what it takes as a completer
};
Capability pcie_capability(const PcieOptions& options);

/// Device Control and Device Control 2, decoded.
struct DeviceControl {
  unsigned mps = 128;
  unsigned mrrs = 512;
  unsigned tag_bits = 5;  ///< 5, 8 or 10 as enabled
  bool relaxed_ordering = false;
  bool id_based_ordering = false;  ///< of requests
  bool no_snoop = false;
};
/// REQUIRES: the PCI Express capability is there.
DeviceControl device_control(const ConfigSpace& space);

// ---- AER (aer.cpp)
Capability aer_capability(bool is_root_port, bool has_ecrc = false);
/// What software has enabled of ECRC. [LNK-12.6]
struct EcrcControl {
  bool generates = false, checks = false;
};
EcrcControl ecrc_control(const ConfigSpace& space);
/// Does the error call for ERR_COR as an advice, unless it is fatal? A request that is refused in
/// its completion, and an unexpected completion, are for others to judge. fc: of the TLP.
/// [LNK-12.9]
constexpr bool is_advisory(cfg::aer::Uncorrectable error, FcClass fc) {
  switch (error) {
    case cfg::aer::Uncorrectable::kUnsupportedRequest:
    case cfg::aer::Uncorrectable::kCompleterAbort: return fc == FcClass::kNonPosted;
    case cfg::aer::Uncorrectable::kUnexpectedCompletion: return true;
    default: return false;
  }
}
/// The same of a TLP: a request that is poisoned is no advice, whatever answers it. [LNK-12.12]
constexpr bool is_advisory(cfg::aer::Uncorrectable error, const Tlp& tlp) {
  const FcClass fc = fc_class(tlp.type);
  const bool is_poisoned_request =
      tlp.is_poisoned && fc == FcClass::kNonPosted && has_data(tlp.type);
  return !is_poisoned_request && is_advisory(error, fc);
}
/// What was found wrong, and with which TLP.
struct FoundError {
  cfg::aer::Uncorrectable error;
  std::array<std::uint32_t, 4> header{};  ///< zeros where there is no TLP
  bool is_advisory = false;
};
/// Records an error: sets AER and Device Status bits, logs the header of the first unmasked one.
/// Returns the Message Code (ERR_COR, ERR_NONFATAL, ERR_FATAL) to be sent, if any. REQUIRES: PCI
/// Express and AER capabilities are there. `physical`: of a VF, its PF, whose enables count for it.
/// [LNK-12.8] [LNK-12.9]
std::optional<std::uint8_t> report_error(ConfigSpace& space, const FoundError& found,
                                         const ConfigSpace* physical = nullptr);
std::optional<std::uint8_t> report_error(ConfigSpace& space, cfg::aer::Correctable error,
                                         const ConfigSpace* physical = nullptr);
/// Software has cleared bits of the AER status: where that of the first error no longer stands,
/// First Error Pointer and header log are cleared too. REQUIRES: AER is there. [LNK-12.13]
void forget_cleared_error(ConfigSpace& space);
/// Root port: records an error message that arrived from `source`.
void note_error_message(ConfigSpace& root_port, std::uint8_t message_code, Bdf source);

// ---- ARI, ACS
Capability ari_capability(std::uint8_t next_function = 0);
/// peers: downstream ports of the switch, among which there is peer-to-peer traffic; of a root port
/// 0.
Capability acs_capability(unsigned peers = 0);

// ---- SR-IOV
struct SriovOptions {
  std::uint16_t total_vfs = 0;
  BarSizes vf_bars{};  ///< of one VF
};
Capability sriov_capability(const SriovOptions& options);

/// The VFs of a PF as they are enabled now.
struct VirtualFunctions {
  unsigned count = 0;  ///< 0 unless VF Enable is set
  std::uint16_t offset = 0;
  std::uint16_t stride = 0;
  bool memory_space_enabled = false;
  /// Routing ID of VF n, 0-based. REQUIRES: n < count.
  Bdf bdf(Bdf pf, unsigned n) const {
    return {static_cast<std::uint16_t>(pf.value + offset + stride * n)};
  }
  /// Which VF this is, if it is one.
  std::optional<unsigned> index_of(Bdf pf, Bdf id) const;
};
VirtualFunctions virtual_functions(const ConfigSpace& pf);
/// VF BAR pair 0..2 of all VFs together; VF n owns [base + n * size_of_one).
AddressRange vf_bar(const ConfigSpace& pf, unsigned index);

// ---- DVSEC: a body whose registers belong to whoever defines it
/// size: bytes, header included, multiple of 4. owner: keeps every DW from 04h (vendor, revision,
/// length) on. [DHI D5]
Capability dvsec_capability(std::uint16_t size, RegisterOwner owner);
/// Finds a DVSEC by its vendor and id among several.
std::optional<std::uint16_t> find_dvsec(const ConfigSpace& space, std::uint16_t vendor,
                                        std::uint16_t dvsec_id);

}  // namespace flitwise
