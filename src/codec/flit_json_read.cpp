// SPDX-License-Identifier: Apache-2.0
// Bytes of flits to JSON.
#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "codec/flit_json.h"
#include "common/byte_vector.h"
#include "link/flit_ends.h"
#include "link/flit_framer.h"
#include "link/flit_tlp_bytes.h"

namespace flitwise {
namespace {

constexpr std::size_t kNowhere = std::numeric_limits<std::size_t>::max();

bool is_plain_nop(const Dllp& dllp) {
  return dllp.type == DllpType::kNop && dllp.raw == 0;
}

/// The receiving end of one direction.
class FlitReceiver {
 public:
  explicit FlitReceiver(const FlitReadOptions& options) : options_(options) {}

  // False: it is none.
  bool take(FlitBytes flit) {
    const FlitRepair repair = mend_flit(flit);
    if (!repair.is_good) {
      return fail(
          kFlitCrcAt,
          {"bad_crc", "more bytes are wrong than FEC can mend, one in each of three groups", 0});
    }
    DlpBytes dlp_bytes{};
    std::copy_n(flit.begin() + flit::kTlpBytes, dlp_bytes.size(), dlp_bytes.begin());
    const auto dlp = decode_dlp(dlp_bytes);
    if (!dlp) {
      return fail(flit::kTlpBytes + kDlpTypeAt, {"unknown_type", "no DLLP has this first byte", 0});
    }
    Json json = json_of(*dlp);
    json["tlps"] = Json::array();
    if (!repair.mended.empty()) {
      json["mended"] = repair.mended;
    }
    if (!options_.checks) {
      json["check"] = false;
    }
    read_.flits.push_back(std::move(json));
    tlp_bytes_.insert(tlp_bytes_.end(), flit.begin(), flit.begin() + flit::kTlpBytes);
    return true;
  }

  FlitsRead result() {
    if (!tlp_bytes_.empty()) {
      add_tlps();
    }
    return std::move(read_);
  }

 private:
  bool fail(std::size_t offset, PacketFlaw flaw) {
    flaw.offset = offset;
    read_.flaw = std::move(flaw);
    read_.flaw_flit = read_.flits.size();
    return false;
  }
  // `at` counts the TLP bytes of all flits; what is missing counts as the last that is there.
  void fail_at(std::size_t at, PacketFlaw flaw) {
    const std::size_t place = std::min(at, tlp_bytes_.size() - 1);
    flaw.offset = place % flit::kTlpBytes;
    read_.flaw = std::move(flaw);
    read_.flaw_flit = place / flit::kTlpBytes;
    read_.flits.resize(read_.flaw_flit + 1);
  }

  void add_tlps() {
    const FoundTlps found = find_tlps(tlp_bytes_, 4 * options_.rest_dw);
    const std::size_t ninth_at = options_.checks ? found.ninth_at.value_or(kNowhere) : kNowhere;
    const PacketFlaw too_many_starts = {
        "too_many_starts", fmt::format("more than {} TLPs begin in this half", kMostStartsInHalf),
        0};
    for (const FoundTlp& tlp : found.tlps) {
      if (tlp.start == ninth_at) {
        return fail_at(ninth_at, too_many_starts);
      }
      PacketRead packet = read_flit_tlp(tlp, options_.checks);
      if (packet.flaw) {
        return fail_at(tlp.start + packet.flaw->offset, *packet.flaw);
      }
      read_.flits[tlp.start / flit::kTlpBytes]["tlps"].push_back(std::move(packet.json));
    }
    if (found.error && ninth_at <= found.error_at) {
      fail_at(ninth_at, too_many_starts);
    } else if (found.error) {
      fail_at(found.error_at, {name_of(*found.error), sentence_of(*found.error), 0});
    }
  }

  FlitReadOptions options_;
  FlitsRead read_;
  ByteVector tlp_bytes_;
};

}  // namespace

Json json_of(const FlitDlp& dlp) {
  Json json;
  json["seq"] = dlp.sequence;
  json["command"] = replay_commands()[static_cast<std::size_t>(dlp.command)];
  json["usage"] = dlp.usage;
  json["prior_was_payload"] = dlp.prior_was_payload;
  if (dlp.other) {
    json["not_a_dllp"] = json_value::hex_dw(*dlp.other);
  } else if (!is_plain_nop(dlp.dllp)) {
    json["dllp"] = json_of(dlp.dllp);
    json["dllp"].erase("crc");  // the flit has one for all
  }
  return json;
}

PacketRead read_flit_tlp(const FlitTlp& tlp, bool checks) {
  PacketRead packet;
  if (tlp.is_part()) {
    packet.json["bytes"] = json_value::hex_bytes(tlp.bytes);
    packet.json["began_before"] = tlp.began_before;
    packet.json["ends_beyond"] = tlp.ends_beyond;
  } else {
    packet = read_tlp(tlp.bytes, TlpForm::kFlit, checks);
  }
  if (tlp.nops > 0) {
    packet.json["nops"] = tlp.nops;
  }
  return packet;
}

FlitsRead read_flits(const std::vector<FlitBytes>& flits, const FlitReadOptions& options) {
  FlitReceiver receiver(options);
  for (const FlitBytes& flit : flits) {
    if (!receiver.take(flit)) {
      break;
    }
  }
  return receiver.result();
}

}  // namespace flitwise
