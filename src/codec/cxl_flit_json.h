// SPDX-License-Identifier: Apache-2.0
/// Messages of CXL.cache and CXL.mem as JSON, and flits of them, one behind the other: what is owed
/// is kept between them, for each form and direction. docs/formats/cxl_json.md shows every key.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "codec/json_value.h"
#include "codec/packet_json.h"
#include "common/byte_vector.h"
#include "cxl/flit_codec.h"

namespace flitwise {

/// Which flit it is; the rest of the object says what it holds.
inline constexpr std::array kCxlKindKeys = {"flit", "direction", "identity_bits"};

/// "cache_req", "mem_data", ...
inline std::string cxl_credit_key(CxlProtocol protocol, std::size_t credit) {
  constexpr std::array<const char*, kCxlCredits> kClasses = {"req", "rsp", "data"};
  return std::string(protocol == CxlProtocol::kCache ? "cache_" : "mem_") + kClasses[credit];
}

/// Which flits are meant.
struct CxlFlitKind {
  CxlFlitForm form = CxlFlitForm::k68;
  CxlDirection direction = CxlDirection::kDownstream;
  std::uint32_t identity_bits = 0;

  bool operator<(const CxlFlitKind& other) const {
    return std::tie(form, direction, identity_bits) <
           std::tie(other.form, other.direction, other.identity_bits);
  }
};

/// Keys flit, direction and identity_bits as they are given; flit may be missing.
struct CxlGivenKind {
  std::optional<CxlFlitForm> form;
  std::optional<CxlDirection> direction;
  std::uint32_t identity_bits = 0;
};
/// Throws ConfigError.
CxlGivenKind cxl_kind_from_json(const Json& object, const JsonSource& source);

/// Which flit an object is about, whatever else it says; a control flit needs no direction. Throws
/// ConfigError.
CxlFlitKind cxl_flit_kind_of(const Json& object, JsonSource source);

/// One flit as JSON names it, on top of what the codec's flits owe. Throws ConfigError.
CxlFlit cxl_flit_from_json(const Json& object, const JsonSource& source, const CxlFlitCodec& codec);

class CxlFlitStream {
 public:
  /// One object is one flit, or with `messages` as many as they take. Throws ConfigError.
  std::vector<ByteVector> bytes_of(const Json& object, const JsonSource& source);

  struct Read {
    Json json;
    std::optional<CxlFlitError> error;
    std::size_t error_offset = 0;
  };
  Read read(const CxlFlitKind& kind, const ByteVector& bytes);

 private:
  CxlFlitCodec& codec_of(const CxlFlitKind& kind);

  std::map<CxlFlitKind, CxlFlitCodec> codecs_;
};

/// One message. docs/formats/cxl_json.md shows every key.
Json json_of(const CxlWireMessage& wire, const CxlWidths& widths);

/// An object, or the name of a channel alone. Throws ConfigError with every problem.
CxlSend send_from_json(const Json& given, const CxlWidths& widths, const JsonSource& source);

/// Does read(); problems of what is nested get the path of where they lie in front.
template <class Read>
auto nested(const std::string& path, Read read) {
  try {
    return read();
  } catch (const ConfigError& error) {
    std::vector<Problem> problems = error.problems();
    for (Problem& problem : problems) {
      problem.path = problem.path.empty() ? path : path + "." + problem.path;
    }
    throw ConfigError(std::move(problems));
  }
}

}  // namespace flitwise
