// SPDX-License-Identifier: Apache-2.0
// The tables of names. docs/script.md lists them.
#include "script/register_names.h"

#include "config_space/registers.h"
#include "iommu/registers.h"

namespace flitwise {

const std::vector<AgentRegister>& agent_registers() {
  using namespace iommu_register;
  static const std::vector<AgentRegister> kRegisters = {
      {"VER", kVer, {}},
      {"CAP", kCap, {}},
      {"ECAP", kEcap, {}},
      {"GCMD",
       kGcmd,
       {{"TE", global_bit::kTranslation},
        {"SRTP", global_bit::kRootTable},
        {"QIE", global_bit::kQueue},
        {"IRE", global_bit::kInterruptRemap},
        {"SIRTP", global_bit::kInterruptTable},
        {"CFI", global_bit::kCompatible}}},
      {"GSTS", kGsts, {}},
      {"RTADDR", kRtaddr, {}},
      {"CCMD", kCcmd, {}},
      {"FSTS",
       kFsts,
       {{"PFO", fault_status::kOverflow},
        {"IQE", fault_status::kQueueError},
        {"ICE", fault_status::kCompletionError},
        {"ITE", fault_status::kTimeout},
        {"PRO", fault_status::kPageRequestOverflow}}},
      {"FECTL", kFectl, {}},
      {"FEDATA", kFedata, {}},
      {"FEADDR", kFeaddr, {}},
      {"FEUADDR", kFeuaddr, {}},
      {"IQH", kIqh, {}},
      {"IQT", kIqt, {}},
      {"IQA", kIqa, {}},
      {"ICS", kIcs, {{"IWC", 1}}},
      {"IECTL", kIectl, {}},
      {"IEDATA", kIedata, {}},
      {"IEADDR", kIeaddr, {}},
      {"IEUADDR", kIeuaddr, {}},
      {"IQER", kIqer, {}},
      {"IRTA", kIrta, {}},
      {"PQH", kPqh, {}},
      {"PQT", kPqt, {}},
      {"PQA", kPqa, {}},
      {"PRS",
       kPrs,
       {{"PPR", page_request_status::kPending}, {"PRO", page_request_status::kOverflow}}},
      {"PECTL", kPectl, {}},
      {"PEDATA", kPedata, {}},
      {"PEADDR", kPeaddr, {}},
      {"PEUADDR", kPeuaddr, {}},
      {"IVA", kIva, {}},
      {"IOTLB", kIotlb, {}}};
  return kRegisters;
}

const std::vector<ConfigRegister>& config_registers() {
  using namespace cfg;
  using Part = ConfigRegister::Part;
  constexpr std::uint16_t kUpper = 2;  // the upper half of a DW
  static const std::vector<ConfigRegister> kRegisters = {
      {"VENDOR_ID", Part::kHeader, 0, kVendorId, 2},
      {"COMMAND", Part::kHeader, 0, kCommand, 2},
      {"STATUS", Part::kHeader, 0, kStatus, 2},
      {"INTERRUPT_LINE", Part::kHeader, 0, kInterruptLine, 1},
      {"BRIDGE_CONTROL", Part::kHeader, 0, kBridgeControlDw + kUpper, 2},
      {"DEVICE_CONTROL", Part::kCapability, kCapPcie, pcie::kDeviceControl, 2},
      {"DEVICE_STATUS", Part::kCapability, kCapPcie, pcie::kDeviceControl + kUpper, 2},
      {"LINK_CONTROL", Part::kCapability, kCapPcie, pcie::kLinkControl, 2},
      {"LINK_STATUS", Part::kCapability, kCapPcie, pcie::kLinkControl + kUpper, 2},
      {"ROOT_CONTROL", Part::kCapability, kCapPcie, pcie::kRootControl, 2},
      {"DEVICE_CONTROL_2", Part::kCapability, kCapPcie, pcie::kDeviceControl2, 2},
      {"LINK_CONTROL_2", Part::kCapability, kCapPcie, pcie::kLinkControl2, 2},
      {"AER_UNCORRECTABLE_STATUS", Part::kExtended, kExtAer, aer::kUncorrectableStatus, 4},
      {"AER_UNCORRECTABLE_MASK", Part::kExtended, kExtAer, aer::kUncorrectableMask, 4},
      {"AER_UNCORRECTABLE_SEVERITY", Part::kExtended, kExtAer, aer::kUncorrectableSeverity, 4},
      {"AER_CORRECTABLE_STATUS", Part::kExtended, kExtAer, aer::kCorrectableStatus, 4},
      {"AER_CORRECTABLE_MASK", Part::kExtended, kExtAer, aer::kCorrectableMask, 4},
      {"AER_CONTROL", Part::kExtended, kExtAer, aer::kControl, 4},
      {"AER_ROOT_COMMAND", Part::kExtended, kExtAer, aer::kRootCommand, 4},
      {"AER_ROOT_STATUS", Part::kExtended, kExtAer, aer::kRootStatus, 4},
      {"AER_ERROR_SOURCE", Part::kExtended, kExtAer, aer::kErrorSource, 4},
      {"ACS_CONTROL", Part::kExtended, kExtAcs, acs::kControl + kUpper, 2},
      {"ATS_CONTROL", Part::kExtended, kExtAts, ats::kControlDw + kUpper, 2},
      {"PRI_CONTROL", Part::kExtended, kExtPri, pri::kControlDw, 2},
      {"PRI_STATUS", Part::kExtended, kExtPri, pri::kControlDw + kUpper, 2},
      {"PRI_CAPACITY", Part::kExtended, kExtPri, pri::kCapacity, 4},
      {"PRI_ALLOCATION", Part::kExtended, kExtPri, pri::kAllocation, 4},
      {"PASID_CONTROL", Part::kExtended, kExtPasid, pasid::kControlDw + kUpper, 2},
      {"SRIOV_CONTROL", Part::kExtended, kExtSriov, sriov::kControl, 2},
      {"SRIOV_NUM_VFS", Part::kExtended, kExtSriov, sriov::kNumVfs, 2}};
  return kRegisters;
}

}  // namespace flitwise
