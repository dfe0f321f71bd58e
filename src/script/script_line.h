// SPDX-License-Identifier: Apache-2.0
/// One line of a script as an operation. docs/script.md shows them all.
#pragma once

#include <nlohmann/json.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "codec/cxl_flit_json.h"
#include "codec/flit_json.h"
#include "dhi/handle_types.h"
#include "flitwise/dllp.h"
#include "flitwise/ids.h"
#include "flitwise/time.h"
#include "flitwise/tlp.h"
#include "iommu/invalidation_descriptor.h"
#include "iommu/table_builder.h"
#include "link/framing_tokens.h"
#include "link/wire_faults.h"
#include "script/hca_line.h"
#include "script/network_line.h"
#include "script/pio_line.h"
#include "script/rcm_line.h"
#include "script/rdma_line.h"
#include "script/register_names.h"
#include "script/srdma_line.h"

namespace flitwise {

struct PokeOp {
  std::uint64_t address = 0;
  std::vector<std::uint8_t> bytes;
};
struct PeekOp {
  std::uint64_t address = 0;
  std::uint64_t bytes = 8;
};
struct TlpOp {
  std::string port = "ep0";
  std::vector<std::uint8_t> bytes;
};
struct DmaOp {
  std::string port = "ep0";
  std::optional<Bdf> requester_id;  ///< absent: the device's own
  OptionalId<Pasid> pasid;
  AddressType at = AddressType::kUntranslated;
  bool is_write = false;
  std::uint64_t address = 0;
  std::uint32_t bytes = 0;         ///< 0: a zero-length read
  std::vector<std::uint8_t> data;  ///< of a write: `bytes` of them
  bool no_write = false;           ///< NW of a translation request
  bool execute = false;            ///< ER of the PASID prefix
  bool privileged = false;         ///< PMR of the PASID prefix
};
struct RunOp {
  std::optional<Time> span;  ///< absent: until `until` happens, or else until nothing is under way
  Json until;  ///< fields of an event; null: none. It is understood when its turn comes
  Time limit = Time::from_ns(1'000'000);  ///< that the event may take
};
/// Software at the host reads or writes a BAR of a device.
struct MmioOp {
  bool is_write = false;
  std::uint64_t address = 0;
  std::uint32_t bytes = 4;         ///< a read: 1..4096 that cross no 4 KiB boundary
  std::vector<std::uint8_t> data;  ///< of a write
};
/// Software at the host reads or writes a configuration register.
struct CfgOp {
  bool is_write = false;
  Bdf target;
  const ConfigRegister* named = nullptr;  ///< the register by its name; null: by its offset
  std::uint16_t offset = 0;               ///< the register lies within one DW
  unsigned bytes = 4;                     ///< 1, 2 or 4
  std::uint32_t value = 0;                ///< of a write
};
/// Software at the host resets one function, or all that is below a port, or takes the link below
/// it down for a while.
struct ResetOp {
  enum class Kind : std::uint8_t { kHot, kFunctionLevel, kLinkDown };
  Kind kind = Kind::kHot;
  Bdf target;  ///< but for kFunctionLevel the port
};
/// One direction of one link; no name: the first link.
struct WireOp {
  std::string link;
  bool is_up = false;
};
struct FaultOp {
  WireOp wire;
  WireFault fault;
};
struct DllpOp {
  WireOp wire;
  Dllp dllp;
};
/// A handle message as any device might send it. [DHI D8, D11]
struct DhiOp {
  std::string port = "ep0";
  std::optional<Bdf> requester_id;  ///< absent: the device's own
  bool is_alloc = true;
  std::uint16_t dhi = 0, upper = 0;
  DeallocScope scope = DeallocScope::kOne;
  std::optional<Bdf> bdf;  ///< absent: the device's own
  OptionalId<Pasid> pasid;
  ContextId context;  ///< none: the process itself
  bool is_trusted = false;
  std::uint16_t capabilities = 0;
  std::optional<std::uint8_t> epoch;  ///< absent: the one that was negotiated
};
/// A packet as it stands on the wire with what frames it. [LNK-5.4] [LNK-5.5] [LNK-5.6]
struct FrameOp {
  Framing framing = Framing::kGen1;
  bool is_dllp = false;
  std::vector<std::uint8_t> bytes;  ///< a TLP of 12 to 8160 bytes in DWs, or a DLLP of 6
  std::uint16_t sequence = 0;       ///< of a TLP, 0..4095
  bool is_nullified = false;
};
/// A frame as a receiver takes it: any bytes.
struct UnframeOp {
  Framing framing = Framing::kGen1;
  bool is_dllp = false;
  std::vector<std::uint8_t> bytes;
};
/// A TLP in the bytes of one of the modes.
struct EncodeTlpOp {
  TlpForm form = TlpForm::kNonFlit;
  std::vector<std::uint8_t> bytes;
};
/// Bytes that a receiver takes as one TLP.
struct DecodeTlpOp {
  TlpForm form = TlpForm::kNonFlit;
  bool checks = true;
  std::vector<std::uint8_t> bytes;  ///< up to kMostTlpBytes
};
/// A flit of flit mode with the TLPs that begin in it. What it leaves open follows from those of
/// the script before it.
struct EncodeFlitOp {
  FlitPlan plan;
};
/// Bytes that a receiver takes as flits, one behind the other.
struct DecodeFlitOp {
  FlitReadOptions options;
  std::vector<FlitBytes> flits;
};
/// A flit of CXL.cache and CXL.mem, or messages that flits are to carry, as
/// docs/formats/cxl_json.md has it. What a flit may hold depends on those before it: the op is
/// understood when its turn comes.
struct EncodeCxlOp {
  Json flit;
};
/// Bytes that a receiver takes as one such flit.
struct DecodeCxlOp {
  CxlFlitKind kind;
  std::vector<std::uint8_t> bytes;
};
/// Bytes that a receiver takes as one RoCEv2 frame.
struct DecodeRoceOp {
  bool checks = true;
  std::vector<std::uint8_t> bytes;
};
/// A message of CXL.cache or CXL.mem as any agent might send it. Which fields it has depends on the
/// flits of the link: it is understood when its turn comes.
struct CxlOp {
  std::string port = "ep0";  ///< a device, or the root port above it, whose end of the link sends
  Json message;
};
/// One entry of a handle table.
struct HandleOp {
  std::string port = "ep0";
  bool is_host = false;
  std::uint16_t dhi = 0;
};
/// One figure as result.json names it: "links.0.up.replays".
struct ResultOp {
  std::string path;
};
/// The workload of the config begins.
struct StartOp {};
/// A register of the translation agent, in its own width.
struct IommuOp {
  bool is_write = false;
  std::uint32_t offset = 0;
  std::uint64_t value = 0;  ///< of a write
};
/// Software turns translation on, with the tables of `map`, or off.
struct TranslateOp {
  bool is_on = false;
};
/// One fault recording register.
struct FaultRecordOp {
  unsigned index = 0;
};
/// Software puts a command on the invalidation queue, which it sets up first where there is none.
struct InvalidateOp {
  InvalidationDescriptor command;
  bool submits = true;  ///< IQT moves behind it; else with the next one that does
};
/// Translation structures are made in host memory, untimed.
struct MapOp {
  Mapping mapping;
  std::optional<PagePermission> permit;  ///< of the pages it leads to, for translated requests
};
/// Permissions of physical pages for translated requests, untimed.
struct PermitOp {
  PermissionGrant grant;
};
/// Bits of one quadword of an entry that a MapOp has made, untimed: cleared, then set.
struct PokeEntryOp {
  TableEntryName name;
  unsigned quad = 0;
  std::uint64_t set = 0, clear = 0;
};

/// One line of PIO send memory, whose answers are events.
struct PioOp {
  PioLine line;
};

/// One line of two ends of an RDMA connection.
struct RdmaOp {
  RdmaLine line;
};

/// One line of the QP-state cache and the pre-translation of a host channel adapter.
struct HcaOp {
  HcaLine line;
};

/// One line of srdma.
struct SrdmaOp {
  SrdmaLine line;
};
/// One line of rcm.
struct RcmOp {
  RcmLine line;
};
/// One line of the switches of a network.
struct NetworkOp {
  NetworkLine line;
};

struct ScriptLine {
  Json id;  ///< null where there is none
  std::variant<PokeOp, PeekOp, TlpOp, DmaOp, RunOp, MmioOp, CfgOp, FaultOp, DllpOp, DhiOp, CxlOp,
               HandleOp, ResultOp, StartOp, FrameOp, UnframeOp, EncodeTlpOp, DecodeTlpOp,
               EncodeFlitOp, DecodeFlitOp, EncodeCxlOp, DecodeCxlOp, DecodeRoceOp, ResetOp, IommuOp,
               TranslateOp, FaultRecordOp, InvalidateOp, MapOp, PermitOp, PokeEntryOp, NetworkOp,
               RcmOp, SrdmaOp, PioOp, RdmaOp, HcaOp>
      op;
};

inline constexpr std::uint64_t kMostScriptBytes = std::uint64_t{1} << 20;  ///< of one poke or peek

class OpReader;

/// One operation.
struct ScriptVerb {
  const char* name;
  const char* sentence;                          ///< for people
  void (*read)(OpReader& in, ScriptLine& line);  ///< makes the operation of its fields
};
/// All that parse_script_line() takes.
const std::vector<ScriptVerb>& script_verbs();

/// Reads a JSON object. Throws ConfigError with every problem: no op, an unknown one and the
/// nearest, unknown keys, values out of range.
ScriptLine parse_script_line(const Json& object, int line);

}  // namespace flitwise
