// SPDX-License-Identifier: Apache-2.0
// The table of control flits.
#include "cxl/control_flit.h"

namespace flitwise {
namespace {

constexpr CxlControlInfo kControls[] = {
    // Bit 3 of the number is Ak of the flit header.
    {"LLCRD.Ack", 0x0, 0x1, {{"acks_2_0", 0, 3}, {"acks_7_4", 4, 4}}, 2},
    {"RETRY.Idle", 0x1, 0x0, {}, 0},
    {"RETRY.Req", 0x1, 0x1, {{"seq", 0, 8}, {"num_retry", 16, 5}, {"num_phy_reinit", 21, 5}}, 3},
    {"RETRY.Ack",
     0x1,
     0x2,
     {{"empty", 0, 1},
      {"viral", 1, 1},
      {"num_retry", 3, 5},
      {"wr_ptr", 8, 8},
      {"seq", 16, 8},
      {"num_free_buf", 24, 8},
      {"ld_id", 32, 16}},
     7},
    {"RETRY.Frame", 0x1, 0x3, {}, 0},
    {"INIT.Param", 0xC, 0x8, {{"payload", 0, 64}}, 1},
};

}  // namespace

CxlControls cxl_controls() {
  return {kControls, sizeof kControls / sizeof kControls[0]};
}

const CxlControlInfo* find_cxl_control(std::uint8_t type, std::uint8_t subtype) {
  for (const CxlControlInfo& info : cxl_controls()) {
    if (info.type == type && info.subtype == subtype) {
      return &info;
    }
  }
  return nullptr;
}

const CxlControlInfo* find_cxl_control(std::string_view name) {
  for (const CxlControlInfo& info : cxl_controls()) {
    if (name == info.name) {
      return &info;
    }
  }
  return nullptr;
}

}  // namespace flitwise
