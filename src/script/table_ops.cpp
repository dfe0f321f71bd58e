// SPDX-License-Identifier: Apache-2.0
// Mappings, permissions and changes of single entries.
#include "script/op_reader.h"

namespace flitwise {
namespace {

using Kind = TableEntryName::Kind;

void read_whose(OpReader& in, Bdf& function, Pasid& pasid) {
  in.bdf("rid", function);
  OptionalId<Pasid> given;
  in.pasid(given);
  pasid = given.value_or(Pasid{});
  if (to_int(pasid) >= TableBuilder::kMostPasids) {
    in.complain("pasid", "expected one below 32768, which the directory has room for");
  }
}

void check_multiple(OpReader& in, const char* key, std::uint64_t value, std::uint64_t bytes,
                    const char* unit = "page") {
  if (value % bytes != 0) {
    in.complain(key, std::string("is no multiple of the ") + unit);
  }
}

void check_number(OpReader& in, std::uint64_t pages) {
  if (pages > TableBuilder::kMostPages) {
    in.complain("bytes", "expected up to 65536 pages");
  }
}

void read_range(OpReader& in, Mapping& mapping) {
  static const std::vector<std::string> kPages = {"4KiB", "2MiB", "1GiB"};
  mapping.page_bits = kPageBits + kLevelBits * static_cast<unsigned>(in.word("page", kPages));
  mapping.bytes = std::uint64_t{1} << mapping.page_bits;
  in.number("address", 0, kAnyNumber, mapping.address);
  in.number("to", 0, kAnyNumber, mapping.to);
  mapping.via = mapping.to;
  in.number("via", 0, kAnyNumber, mapping.via);
  in.number("bytes", 1, kAnyNumber, mapping.bytes);
  if (mapping.type == TranslationType::kPassThrough) {
    return;
  }
  in.need("address");
  in.need("to");
  if (in.has("via") && mapping.type != TranslationType::kNested) {
    in.complain("via", "is for stage nested alone");
  }
  const std::uint64_t page = std::uint64_t{1} << mapping.page_bits;
  check_multiple(in, "address", mapping.address, page);
  check_multiple(in, "to", mapping.to, page);
  check_multiple(in, "via", mapping.via, page);
  check_multiple(in, "bytes", mapping.bytes, page);
  check_number(in, mapping.bytes / page);
  const auto check_end = [&](const char* key, std::uint64_t first) {
    if (mapping.bytes != 0 && mapping.bytes - 1 > kAnyNumber - first) {
      in.complain(key, "expected an end within the 64-bit address space");
    }
  };
  check_end("address", mapping.address);
  check_end("to", mapping.to);
  check_end("via", mapping.via);
}

void read_rights(OpReader& in, MappingRights& rights) {
  static const std::vector<std::string> kWords = {"read", "write", "user", "execute"};
  bool* const flags[] = {&rights.read, &rights.write, &rights.user, &rights.execute};
  if (in.has("flags")) {
    rights = {false, false, false, false};
  }
  in.field("flags", [&](const Json& value) -> Complaint {
    if (!value.is_array()) {
      return json_value::shown(value) + "; expected a list";
    }
    for (const Json& item : value) {
      std::size_t index = 0;
      if (Complaint complaint = json_value::read_word(item, kWords, index); !complaint.empty()) {
        return complaint;
      }
      *flags[index] = true;
    }
    return {};
  });
}

// "rw", "r", "w", "none".
PagePermission read_permission(OpReader& in, const char* key) {
  constexpr PagePermission kAll[] = {{true, true}, {true, false}, {false, true}, {false, false}};
  return kAll[in.word(key, {"rw", "r", "w", "none"})];
}

// "level_3", "second_level_1" and the structures above.
std::vector<std::string> entry_words() {
  std::vector<std::string> words = {"root", "context", "pasid_directory", "pasid"};
  for (const char* stage : {"level_", "second_level_"}) {
    for (unsigned level = 1; level <= kMaxLevels; ++level) {
      words.push_back(stage + std::to_string(level));
    }
  }
  for (unsigned level = 1; level <= kMaxPermissionLevels; ++level) {
    words.push_back("permission_level_" + std::to_string(level));
  }
  return words;
}

}  // namespace

void read_op(OpReader& in, PermitOp& op) {
  static const std::vector<std::string> kUnits = {"4KiB", "64MiB", "32GiB"};
  PermissionGrant& grant = op.grant;
  grant.function = Bdf::of(1, 0, 0);
  read_whose(in, grant.function, grant.pasid);
  const std::size_t unit = in.word("unit", kUnits);
  grant.unit_bits = unit == 0 ? kPageBits : permission_word_bits(static_cast<unsigned>(unit) + 1);
  const std::uint64_t unit_bytes = std::uint64_t{1} << grant.unit_bits;
  grant.bytes = unit_bytes;
  in.number(in.need("address"), 0, kAnyNumber, grant.address);
  in.number("bytes", 1, kAnyNumber, grant.bytes);
  check_multiple(in, "address", grant.address, unit_bytes, "unit");
  check_multiple(in, "bytes", grant.bytes, unit_bytes, "unit");
  check_number(in, grant.bytes / unit_bytes);
  grant.permission = read_permission(in, "allow");
  in.flag("trusted", grant.is_trusted);
}

void read_op(OpReader& in, MapOp& op) {
  op.mapping.function = Bdf::of(1, 0, 0);
  read_whose(in, op.mapping.function, op.mapping.pasid);
  static constexpr TranslationType kTypes[] = {
      TranslationType::kFirstStage, TranslationType::kSecondStage, TranslationType::kNested,
      TranslationType::kPassThrough};
  op.mapping.type = kTypes[in.word("stage", {"first", "second", "nested", "pass_through"})];
  in.number("levels", 3, kMaxLevels, op.mapping.levels);
  const bool has_first = op.mapping.type == TranslationType::kFirstStage ||
                         op.mapping.type == TranslationType::kNested;
  if (has_first && op.mapping.levels < 4) {
    in.complain("levels", "3 seen; expected 4 or 5 for a first stage");
  }
  read_range(in, op.mapping);
  read_rights(in, op.mapping.rights);
  in.number("did", 0, std::numeric_limits<std::uint16_t>::max(), op.mapping.domain);
  if (in.has("permit")) {
    op.permit = read_permission(in, "permit");
    if (op.mapping.type == TranslationType::kPassThrough) {
      in.complain("permit", "has no range in pass_through; use the op permit");
    }
  }
}

void read_op(OpReader& in, PokeEntryOp& op) {
  constexpr std::size_t kStructures = 4;
  constexpr unsigned kQuads[] = {1, 4, 1, 8};
  op.name.function = Bdf::of(1, 0, 0);
  read_whose(in, op.name.function, op.name.pasid);
  in.number("address", 0, kAnyNumber, op.name.address);
  const std::size_t which = in.word(in.need("which"), entry_words());
  if (which < kStructures) {
    op.name.kind = static_cast<Kind>(which);
  } else {
    constexpr Kind kKinds[] = {Kind::kFirstStage, Kind::kSecondStage, Kind::kPermission};
    const std::size_t page_entry = which - kStructures;
    op.name.kind = kKinds[page_entry / kMaxLevels];
    op.name.level = static_cast<unsigned>(page_entry % kMaxLevels) + 1;
    in.need("address");
  }
  in.number("quad", 0, (which < kStructures ? kQuads[which] : 1) - 1, op.quad);
  in.number("set", 0, kAnyNumber, op.set);
  in.number("clear", 0, kAnyNumber, op.clear);
  if (!in.has("set") && !in.has("clear")) {
    in.complain("", "expected set, clear or both: masks of bits");
  }
}

}  // namespace flitwise
