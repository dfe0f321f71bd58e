// SPDX-License-Identifier: Apache-2.0
/// Reads the fields of operations of a script.
#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "codec/json_reader.h"
#include "codec/packet_json.h"
#include "common/quantity.h"
#include "dhi/context_text.h"
#include "flitwise/ids.h"
#include "flitwise/time.h"
#include "script/script_line.h"

namespace flitwise {

/// Where the fields of packets stand.
inline const JsonSource kScript{"script", 0, {}};
inline constexpr std::uint64_t kAnyNumber = std::numeric_limits<std::uint64_t>::max();
inline constexpr std::uint64_t kMost32 = std::numeric_limits<std::uint32_t>::max();
inline constexpr std::uint64_t kMost16 = std::numeric_limits<std::uint16_t>::max();

/// A script names its keys "fields of the op" rather than of a packet.
class OpReader : public JsonReader {
 public:
  OpReader(const Json& object, int line)
      : JsonReader(object, JsonSource{"script", line, {"op", "id"}}) {}

  /// The key, which has to be there.
  const char* need(const char* key) {
    if (!has(key)) {
      complain(key, "missing; expected one");
    }
    return key;
  }
  void address(std::uint64_t& out) { number(need("addr"), 0, kAnyNumber, out); }
  void text(const char* key, std::string& out) {
    field(key, [&](const Json& value) -> Complaint {
      if (!value.is_string()) {
        return json_value::shown(value) + "; expected a text";
      }
      out = value.get<std::string>();
      return {};
    });
  }
  void pasid(OptionalId<Pasid>& out) {
    field("pasid", [&](const Json& value) -> Complaint {
      if (value.is_null()) {
        return {};
      }
      std::uint64_t number = 0;
      Complaint complaint =
          json_value::read_number(value, 0, (std::uint64_t{1} << kPasidBits) - 1, number);
      out = static_cast<Pasid>(number);
      return complaint;
    });
  }
  void context(ContextId& out) {
    field("context", [&](const Json& value) -> Complaint {
      const auto context = value.is_string() ? context_of(value.get<std::string>()) : std::nullopt;
      out = context.value_or(out);
      return context ? Complaint{}
                     : json_value::shown(value) +
                           "; expected a kind and a number, such as \"queue_pair 5\"";
    });
  }
  /// A packet as its fields, with the names that encode and decode use; out: its bytes.
  void tlp(const char* key, std::vector<std::uint8_t>& out) {
    field(key, [&](const Json& value) {
      return guarded([&] { out = bytes_of(tlp_from_json(value, kScript)); });
    });
  }
  void dllp(const char* key, Dllp& out) {
    field(key, [&](const Json& value) {
      return guarded([&] { out = dllp_from_json(value, kScript); });
    });
  }
  void pio_line(const char* key, PioLine& out) {
    field(key, [&](const Json& value) { return guarded([&] { out = parse_pio_line(value, 0); }); });
  }
  void rdma_line(const char* key, RdmaLine& out) {
    field(key,
          [&](const Json& value) { return guarded([&] { out = parse_rdma_line(value, 0); }); });
  }
  void hca_line(const char* key, HcaLine& out) {
    field(key, [&](const Json& value) { return guarded([&] { out = parse_hca_line(value, 0); }); });
  }
  void srdma_line(const char* key, SrdmaLine& out) {
    field(key,
          [&](const Json& value) { return guarded([&] { out = parse_srdma_line(value, 0); }); });
  }
  void rcm_line(const char* key, RcmLine& out) {
    field(key, [&](const Json& value) { return guarded([&] { out = parse_rcm_line(value, 0); }); });
  }
  void network_line(const char* key, NetworkLine& out) {
    field(key,
          [&](const Json& value) { return guarded([&] { out = parse_network_line(value, 0); }); });
  }
  /// The keys that no reader has taken yet: read(object) takes them.
  template <class Read>
  void rest(Read read) {
    const Json object = JsonReader::rest();
    const Complaint complaint = guarded([&] { read(object); });
    if (!complaint.empty()) {
      complain("", complaint);
    }
  }
  /// "1us"; not below 0.
  template <class TimeLike>
  void time(const char* key, TimeLike& out) {
    field(key, [&](const Json& value) -> Complaint {
      std::string problem = json_value::shown(value) + "; expected a time such as \"1us\"";
      if (!value.is_string()) {
        return problem;
      }
      const auto time = config::read_quantity(value.get<std::string>(), config::time_dimension());
      if (!time.value || *time.value < 0) {
        return problem;
      }
      out = Time{*time.value};
      return {};
    });
  }

 private:
  // What is wrong inside of a packet, as one complaint.
  template <class Read>
  static Complaint guarded(Read read) {
    try {
      read();
    } catch (const ConfigError& error) {
      return config::summary_of(error);
    }
    return {};
  }
};

/// Reads the fields of each operation; complaints stay with the reader. What writes as well as
/// reads knows already which it is.
void read_op(OpReader& in, PokeOp& op);
void read_op(OpReader& in, PeekOp& op);
void read_op(OpReader& in, TlpOp& op);
void read_op(OpReader& in, DmaOp& op);
void read_op(OpReader& in, RunOp& op);
void read_op(OpReader& in, MmioOp& op);
void read_op(OpReader& in, CfgOp& op);
void read_op(OpReader& in, FaultOp& op);
void read_op(OpReader& in, DllpOp& op);
void read_op(OpReader& in, DhiOp& op);
void read_op(OpReader& in, CxlOp& op);
void read_op(OpReader& in, HandleOp& op);
void read_op(OpReader& in, ResultOp& op);
void read_op(OpReader& in, ResetOp& op);
void read_op(OpReader& in, IommuOp& op);
void read_op(OpReader& in, TranslateOp& op);
void read_op(OpReader& in, FaultRecordOp& op);
void read_op(OpReader& in, InvalidateOp& op);
void read_op(OpReader& in, MapOp& op);
void read_op(OpReader& in, PermitOp& op);
void read_op(OpReader& in, PokeEntryOp& op);
void read_op(OpReader& in, FrameOp& op);
void read_op(OpReader& in, UnframeOp& op);
void read_op(OpReader& in, EncodeTlpOp& op);
void read_op(OpReader& in, DecodeTlpOp& op);
void read_op(OpReader& in, EncodeFlitOp& op);
void read_op(OpReader& in, DecodeFlitOp& op);
void read_op(OpReader& in, EncodeCxlOp& op);
void read_op(OpReader& in, DecodeCxlOp& op);
void read_op(OpReader& in, DecodeRoceOp& op);

}  // namespace flitwise
