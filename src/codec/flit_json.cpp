// SPDX-License-Identifier: Apache-2.0
// JSON to planned flits, these to bytes, and bytes of flits to JSON.
#include "codec/flit_json.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <string>
#include <utility>

#include "codec/json_reader.h"
#include "common/byte_vector.h"
#include "flitwise/error.h"
#include "link/flit_framer.h"
#include "tlp/tlp_check.h"

namespace flitwise {
namespace {

constexpr SequenceSpace kNumbers = SequenceSpace::of_flits();

// ---- to planned flits

// A list or an object as it is, or as text for --set; what is no JSON stays as it is.
Json from_text(const Json& value) {
  const Json parsed = value.is_string() ? json_value::parse(value.get<std::string>()) : value;
  return parsed.is_discarded() ? value : parsed;
}

FlitTlp read_part(const Json& json, const JsonSource& source) {
  FlitTlp item;
  JsonReader reader(json, source);
  reader.field("bytes", [&](const Json& value) {
    Complaint complaint = json_value::read_bytes(value, item.bytes);
    if (complaint.empty() && (item.bytes.empty() || item.bytes.size() % 4 != 0)) {
      complaint = fmt::format("{} bytes seen; expected whole DWs", item.bytes.size());
    }
    return complaint;
  });
  reader.flag("began_before", item.began_before);
  reader.flag("ends_beyond", item.ends_beyond);
  if (!item.is_part()) {
    reader.complain("bytes", "a whole TLP; expected its fields, or began_before or ends_beyond");
  }
  reader.finish();
  return item;
}

// Takes the number of NOP TLPs out of the object of a TLP.
std::uint64_t take_nops(Json& object, JsonSource& source) {
  const Json own = json_value::take_keys(object, {"nops"}, source);
  std::uint64_t nops = 0;
  JsonReader reader(own, source);
  reader.number("nops", 0, flit::kTlpDws - 1, nops);
  reader.finish();
  return nops;
}

FlitTlp read_tlp(Json json, JsonSource source, bool checks) {
  const std::uint64_t nops = take_nops(json, source);
  FlitTlp item;
  if (json.is_object() && json.contains("bytes")) {
    item = read_part(json, source);
    if (item.began_before && nops > 0) {
      refuse(source, "nops", "before a TLP that began before; expected none");
    }
  } else {
    const TlpDocument document = tlp_from_json(json, source, TlpForm::kFlit);
    if (checks) {
      check_rules(document.tlp, source);
    }
    item.bytes = bytes_of(document);
  }
  item.nops = nops;
  return item;
}

/// Reads one flit's object.
class FlitReader {
 public:
  FlitReader(const Json& object, const JsonSource& source)
      : source_(source), reader_(object, source) {
    plan_.source = source;
  }

  FlitPlan run() {
    reader_.number("usage", 0, 3, plan_.usage);
    reader_.flag("prior_was_payload", plan_.prior_was_payload);
    reader_.number("seq", 0, SequenceSpace::of_flits().last(), plan_.sequence);
    plan_.dlp.command = static_cast<ReplayCommand>(reader_.word("command", replay_commands()));
    if (plan_.dlp.command != ReplayCommand::kExplicit && !reader_.has("seq")) {
      reader_.complain("seq", "missing; expected the number that the command is about");
    }
    read_dllp();
    bool checks = true;
    reader_.flag("check", checks);
    reader_.field("tlps", [&](const Json& value) { return read_tlps(value, checks); });
    reader_.skip("mended");  // what decode said of it
    reader_.finish();
    return std::move(plan_);
  }

 private:
  // Runs read(), and takes over what it finds wrong with what stands behind the key.
  template <class Read>
  void nested(const std::string& key, Read read) {
    try {
      read();
    } catch (const ConfigError& error) {
      for (const Problem& problem : error.problems()) {
        reader_.complain(problem.path.empty() ? key : key + "." + problem.path, problem.message);
      }
    }
  }

  void read_dllp() {
    reader_.field("dllp", [this](const Json& value) {
      nested("dllp", [&] { plan_.dlp.dllp = dllp_from_json(from_text(value), source_); });
      return Complaint();
    });
    reader_.number("not_a_dllp", 0, 0xffffffffU, plan_.dlp.other);
    if (reader_.has("dllp") && reader_.has("not_a_dllp")) {
      reader_.complain("not_a_dllp", "beside a dllp; expected one of them");
    }
  }

  Complaint read_tlps(const Json& value, bool checks) {
    const Json list = from_text(value);
    if (!list.is_array()) {
      return fmt::format("{} seen; expected a list of TLPs", json_value::shown(value));
    }
    for (std::size_t i = 0; i < list.size(); ++i) {
      nested(fmt::format("tlps[{}]", i),
             [&] { plan_.tlps.push_back(read_tlp(list[i], source_, checks)); });
    }
    return {};
  }

  JsonSource source_;
  JsonReader reader_;
  FlitPlan plan_;
};

// ---- to JSON

constexpr std::size_t kNowhere = std::numeric_limits<std::size_t>::max();

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

FlitPlan flit_plan_from_json(const Json& object, const JsonSource& source) {
  return FlitReader(object, source).run();
}

Json json_of(const FlitDlp& dlp) {
  Json json;
  json["seq"] = dlp.sequence;
  json["command"] = replay_commands()[static_cast<std::size_t>(dlp.command)];
  json["usage"] = dlp.usage;
  json["prior_was_payload"] = dlp.prior_was_payload;
  if (dlp.other) {
    json["not_a_dllp"] = json_value::hex_dw(*dlp.other);
  } else if (dlp.dllp.type != DllpType::kNop || dlp.dllp.raw != 0) {
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

// ---- planned flits to bytes

std::vector<WrittenFlit> FlitWriter::write(const std::vector<FlitPlan>& plans) {
  FlitWriter after = *this;
  after.ends_beyond_ = false;
  std::vector<WrittenFlit> flits;
  for (const FlitPlan& plan : plans) {
    after.push(plan);
    flits.push_back(after.next_flit(plan));
  }
  while (after.packer_.has_work()) {
    flits.push_back(after.next_flit({}));
  }
  if (after.ends_beyond_ && !after.is_full_) {
    refuse(plans.back().source, "tlps",
           "a TLP that ends beyond ends before its flit does; expected bytes up to its end");
  }
  after.open_ = after.ends_beyond_ ? Open::kYes : after.open_;
  *this = std::move(after);
  return flits;
}

void FlitWriter::push(const FlitPlan& plan) {
  if (open_ == Open::kYes && (plan.tlps.empty() || !plan.tlps.front().began_before)) {
    refuse(plan.source, "tlps",
           "none goes on that ends beyond the flits before; expected its rest first, as bytes with"
           " began_before");
  }
  for (const FlitTlp& tlp : plan.tlps) {
    if (ends_beyond_) {
      refuse(plan.source, "tlps",
             "a TLP behind one that ends beyond; expected that one to be last");
    }
    if (tlp.began_before && open_ == Open::kNo) {
      refuse(plan.source, "tlps",
             "a TLP that began before; expected it first in the first flit, or behind one that ends"
             " beyond");
    }
    open_ = Open::kNo;
    ends_beyond_ = tlp.ends_beyond;
    if (tlp.began_before) {
      packer_.push_rest(tlp.bytes);
      ++rests_;
    } else {
      packer_.push(tlp.bytes, tlp.nops);
    }
  }
}

WrittenFlit FlitWriter::next_flit(const FlitPlan& plan) {
  const TlpBytePacker::Filled filled = packer_.fill();
  const bool has_payload = filled.taken > 0;
  is_full_ = filled.taken == flit::kTlpBytes;
  open_ = Open::kNo;
  WrittenFlit flit;
  flit.tlps = filled.begun + std::exchange(rests_, 0);
  std::copy(filled.bytes.begin(), filled.bytes.end(), flit.bytes.begin());
  const FlitDlp dlp = completed(plan, has_payload);
  const DlpBytes dlp_bytes = encode(dlp);
  std::copy(dlp_bytes.begin(), dlp_bytes.end(), flit.bytes.begin() + flit::kTlpBytes);
  protect_flit(flit.bytes);
  last_was_payload_ = has_payload;
  if (dlp.command == ReplayCommand::kExplicit) {
    next_ = kNumbers.next(dlp.sequence);
  } else if (has_payload) {
    next_ = kNumbers.next(next_);
  }
  return flit;
}

// A NOP flit has the number of the last one with payload. model: [LNK-11.20]
FlitDlp FlitWriter::completed(const FlitPlan& plan, bool has_payload) const {
  FlitDlp dlp = plan.dlp;
  dlp.usage = static_cast<std::uint8_t>(
      plan.usage.value_or(has_payload ? kUsageOfPayloadFlit : kUsageOfNopFlit));
  dlp.prior_was_payload = plan.prior_was_payload.value_or(last_was_payload_);
  const std::uint16_t own = has_payload ? next_ : kNumbers.before(next_);
  dlp.sequence = static_cast<std::uint16_t>(plan.sequence.value_or(own));
  return dlp;
}

}  // namespace flitwise
