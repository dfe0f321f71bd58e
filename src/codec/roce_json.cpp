// SPDX-License-Identifier: Apache-2.0
// RoCEv2 frames as JSON, by the tables of headers and opcodes.
#include "codec/roce_json.h"

#include <arpa/inet.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>
#include <string_view>

#include "codec/json_reader.h"
#include "common/ranges.h"
#include "network/roce_frame.h"

namespace flitwise {
namespace {

using Format = RoceField::Format;
using Id = RoceHeaderId;

constexpr std::string_view kChecksum = "checksum";
constexpr std::size_t kMostLength = 0xffff;  // of an IP packet

// ---- addresses

int family_of(Format format) {
  return format == Format::kIpv4 ? AF_INET : AF_INET6;
}

std::string address_text(const RoceField& field, const std::uint8_t* bytes) {
  if (field.format == Format::kMac) {
    return fmt::format("{:02x}", fmt::join(bytes, bytes + field.width / 8U, ":"));
  }
  if (field.format == Format::kBytes) {
    return json_value::hex_bytes(bytes, field.width / 8U);
  }
  std::array<char, INET6_ADDRSTRLEN> text{};
  inet_ntop(family_of(field.format), bytes, text.data(), text.size());
  return text.data();
}

// What was expected, or nothing.
Complaint read_address(const RoceField& field, const std::string& text, std::uint8_t* bytes) {
  if (field.format == Format::kIpv4 || field.format == Format::kIpv6) {
    const bool is_good = inet_pton(family_of(field.format), text.c_str(), bytes) == 1;
    return is_good                         ? ""
           : field.format == Format::kIpv4 ? "an IPv4 address such as \"10.0.0.1\""
                                           : "an IPv6 address such as \"fd00::1\"";
  }
  std::string digits = text;
  if (field.format == Format::kMac) {
    digits.erase(std::remove(digits.begin(), digits.end(), ':'), digits.end());
  }
  ByteVector given;
  if (!json_value::read_bytes(digits, given).empty() || given.size() != field.width / 8U) {
    return field.format == Format::kMac ? "a MAC address such as \"02:00:00:00:00:01\""
                                        : fmt::format("{} bytes as hex digits", field.width / 8U);
  }
  std::copy(given.begin(), given.end(), bytes);
  return {};
}

// ---- frame to JSON

Json value_of(const RoceField& field, const std::uint8_t* header, const RoceOpcode& opcode) {
  if (field.is_address()) {
    return address_text(field, header + field.bit / 8U);
  }
  const std::uint64_t value = get(header, field);
  switch (field.format) {
    case Format::kFlag: return value != 0;
    case Format::kHex: return json_value::hex_number(value);
    case Format::kOpcode: return opcode.name;
    default: return value;
  }
}

bool is_as_usual(const RoceField& field, const std::uint8_t* header) {
  if (field.width > 64) {
    const std::uint8_t* first = header + field.bit / 8U;
    return all_of(std::vector(first, first + field.width / 8U),
                  [](auto byte) { return byte == 0; });
  }
  return get(header, field) == field.usual;
}

Json header_json(Id id, const std::uint8_t* header, const RoceOpcode& opcode) {
  Json json = Json::object();
  for (const RoceField& field : header_of(id).fields) {
    if (field.format != Format::kDerived && !(field.is_quiet && is_as_usual(field, header))) {
      json[field.key] = value_of(field, header, opcode);
    }
  }
  return json;
}

Json frame_json(const ByteVector& bytes, const RoceRead& read) {
  const RoceParts& parts = read.parts;
  Json json;
  for (std::size_t i = 0; i < parts.count; ++i) {
    const auto [id, at] = parts.headers[i];
    Json header = header_json(id, &bytes[at], *parts.opcode);
    if (!header.empty()) {
      json[header_of(id).key] = std::move(header);
    }
  }
  json["payload"] = json_value::hex_bytes(bytes.data() + parts.payload, parts.payload_bytes);
  const std::uint8_t* pad = bytes.data() + parts.payload + parts.payload_bytes;
  if (std::any_of(pad, pad + parts.pad, [](std::uint8_t byte) { return byte != 0; })) {
    json["padding"] = json_value::hex_bytes(pad, parts.pad);
  }
  json["icrc"] = json_value::hex_bytes(&bytes[parts.icrc], kIcrcBytes);
  json["icrc_ok"] = read.is_icrc_good;
  if (parts.end() < bytes.size()) {
    json["trailer"] = json_value::hex_bytes(&bytes[parts.end()], bytes.size() - parts.end());
  }
  return json;
}

// ---- JSON to frame

// Keys such as "bth.psn", as --set has them, go to where they belong.
Json nested_keys(const Json& object, const JsonSource& source) {
  Json whole = object;
  for (const auto& [key, value] : object.items()) {
    const std::size_t dot = key.find('.');
    if (dot == std::string::npos) {
      continue;
    }
    Json& header = whole[key.substr(0, dot)];
    if (!header.is_null() && !header.is_object()) {
      refuse(source, key, json_value::shown(header) + " seen before the dot; expected an object");
    }
    header[key.substr(dot + 1)] = value;
    whole.erase(key);
  }
  return whole;
}

Json object_in(const Json& object, const char* key) {
  const auto found = object.find(key);
  return found != object.end() && found->is_object() ? *found : Json::object();
}

const RoceOpcode& opcode_in(const Json& object, const JsonSource& source) {
  const Json bth = object_in(object, "bth");
  std::size_t place = 0;
  const Complaint complaint =
      bth.contains("opcode")
          ? json_value::read_word(bth["opcode"], mapped(roce_opcodes(), &RoceOpcode::name), place)
          : "missing; expected an opcode such as \"RC_SEND_ONLY\"";
  if (!complaint.empty()) {
    refuse(source, "bth.opcode", complaint);
  }
  return roce_opcodes()[place];
}

bool is_ipv6(const Json& object, const JsonSource& source) {
  const Json ip = object_in(object, "ip");
  std::uint64_t version = 4;
  if (ip.contains("version") &&
      (!json_value::read_number(ip["version"], 4, 6, version).empty() || version == 5)) {
    refuse(source, "ip.version", json_value::shown(ip["version"]) + " seen; expected 4 or 6");
  }
  return version == 6;
}

void put_field(JsonReader& reader, const RoceField& field, std::uint8_t* header) {
  if (field.is_address()) {
    reader.field(field.key, [&](const Json& value) {
      const Complaint expected = read_address(
          field, value.is_string() ? value.get<std::string>() : "", header + field.bit / 8U);
      return expected.empty()
                 ? expected
                 : fmt::format("{} seen; expected {}", json_value::shown(value), expected);
    });
    return;
  }
  std::optional<std::uint64_t> value;
  if (field.format == Format::kFlag) {
    reader.flag(field.key, value);
  } else {
    reader.number(field.key, 0, field.most(), value);
  }
  if (value) {
    put(header, field, *value);
  }
}

void put_header(const Json& json, const JsonSource& source, const RoceHeader& header,
                std::uint8_t* bytes) {
  JsonReader reader(json, source);
  for (const RoceField& field : header.fields) {
    if (field.format == Format::kOpcode) {
      reader.skip(field.key);
    } else if (field.format != Format::kDerived) {
      put_field(reader, field, bytes);
    }
  }
  reader.finish();
}

/// Makes one frame, and collects what is wrong with any part of it.
class FrameWriter {
 public:
  FrameWriter(const Json& object, const JsonSource& source)
      : object_(object), source_(source), reader_(object, source) {}

  ByteVector bytes() {
    bool checks = true;
    reader_.flag("check", checks);
    const ByteVector payload = part("payload", kMostLength);
    lay_out(payload);
    put_headers();
    const ByteVector padding = part("padding", parts_.pad);
    std::copy(padding.begin(), padding.end(), bytes_.begin() + offset(parts_.icrc - parts_.pad));
    seal();
    const ByteVector trailer = part("trailer", std::numeric_limits<std::size_t>::max());
    bytes_.insert(bytes_.end(), trailer.begin(), trailer.end());
    reader_.finish();
    check_bytes(checks);
    return std::move(bytes_);
  }

 private:
  static std::ptrdiff_t offset(std::size_t at) { return static_cast<std::ptrdiff_t>(at); }

  ByteVector part(const char* key, std::size_t most) {
    ByteVector bytes;
    reader_.hex(key, bytes);
    if (bytes.size() > most) {
      reader_.complain(key, fmt::format("{} bytes seen; expected at most {}", bytes.size(), most));
      bytes.resize(most);
    }
    return bytes;
  }

  void lay_out(const ByteVector& payload) {
    reader_.skip("vlan");
    extensions_.has_echo = reader_.has("echo");
    extensions_.has_sack = reader_.has("sack");
    reader_.flag("place", extensions_.has_place);
    RoceShape shape{&opcode_in(object_, source_),
                    is_ipv6(object_, source_),
                    reader_.has("vlan"),
                    payload.size(),
                    {},
                    extensions_};
    const Json bth = object_in(object_, "bth");
    std::uint64_t pad = 0;
    if (bth.contains("pad") && json_value::read_number(bth["pad"], 0, 3, pad).empty()) {
      shape.pad = static_cast<std::size_t>(pad);
    }
    parts_ = make_roce(shape, bytes_);
    const std::size_t length = parts_.end() - (shape.is_ipv6 ? parts_.udp : parts_.ip);
    if (length > kMostLength) {
      reader_.complain("payload",
                       fmt::format("{} bytes seen, with which IP has length {}; expected "
                                   "at most {}",
                                   payload.size(), length, kMostLength));
    }
    std::copy(payload.begin(), payload.end(), bytes_.begin() + offset(parts_.payload));
  }

  void put_headers() {
    for (std::size_t i = 0; i < parts_.count; ++i) {
      const auto [id, at] = parts_.headers[i];
      const RoceHeader& header = header_of(id);
      reader_.skip(header.key);
      if (!reader_.has(header.key)) {
        continue;
      }
      try {
        put_header(object_[header.key], source_, header, &bytes_[at]);
      } catch (const ConfigError& error) {
        for (const Problem& problem : error.problems()) {
          reader_.complain(header.key + (problem.path.empty() ? "" : "." + problem.path),
                           problem.message);
        }
      }
    }
    for (std::size_t id = 0; id < kRoceHeaders; ++id) {
      const char* key = header_of(static_cast<Id>(id)).key;
      if (!reader_.knows(key)) {
        reader_.foreign(key, parts_.opcode->name, "headers of its opcode");
      }
    }
  }

  // Checksums that are given stay as they are. A wrong ICRC is taken only where icrc_ok says so.
  void seal() {
    const ByteVector given = bytes_;
    seal_roce(bytes_.data(), parts_);
    for (std::size_t i = 0; i < parts_.count; ++i) {
      const auto [id, at] = parts_.headers[i];
      for (const RoceField& field : header_of(id).fields) {
        if (field.key == kChecksum && object_in(object_, header_of(id).key).contains(kChecksum)) {
          put(&bytes_[at], field, get(&given[at], field));
        }
      }
    }
    bool is_good = true;
    reader_.flag("icrc_ok", is_good);
    std::array<std::uint8_t, kIcrcBytes> icrc{};
    std::copy_n(bytes_.begin() + offset(parts_.icrc), kIcrcBytes, icrc.begin());
    const auto own = icrc;
    reader_.hex("icrc", icrc);
    if ((icrc == own) != is_good) {
      const std::string fits = json_value::hex_bytes(own);
      reader_.complain("icrc", json_value::hex_bytes(icrc) + " seen; expected " +
                                   (is_good ? fits + ", none, or icrc_ok false"
                                            : "another than " + fits + ", or icrc_ok true"));
    }
    std::copy(icrc.begin(), icrc.end(), bytes_.begin() + offset(parts_.icrc));
  }

  void check_bytes(bool checks) const {
    const auto flaw = read_roce(bytes_.data(), bytes_.size(), extensions_).flaw;
    if (flaw && (checks || !flaw->breaks_rule_only())) {
      refuse(
          source_, "",
          fmt::format("{} at byte {}: {}", name_of(flaw->error), flaw->offset, flaw->sentence()));
    }
  }

  const Json& object_;
  const JsonSource& source_;
  JsonReader reader_;
  RoceExtensions extensions_;
  RoceParts parts_;
  ByteVector bytes_;
};

}  // namespace

PacketRead read_roce_frame(const ByteVector& bytes, bool checks, const RoceExtensions& extensions) {
  const RoceRead read = read_roce(bytes.data(), bytes.size(), extensions);
  if (read.flaw && (checks || !read.flaw->breaks_rule_only())) {
    return {{}, PacketFlaw{name_of(read.flaw->error), read.flaw->sentence(), read.flaw->offset}};
  }
  Json json = frame_json(bytes, read);
  if (!checks) {
    json["check"] = false;
  }
  if (extensions.has_place) {
    json["place"] = true;
  }
  return {std::move(json), std::nullopt};
}

ByteVector roce_from_json(const Json& object, const JsonSource& source) {
  const Json whole = nested_keys(object, source);
  return FrameWriter(whole, source).bytes();
}

}  // namespace flitwise
