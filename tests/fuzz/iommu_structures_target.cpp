// SPDX-License-Identifier: Apache-2.0
// What the translation agent reads from memory, written by anybody: the entries of its tables, the
// descriptors of its queue in both widths, page request records, and walks over any of it.
#include <algorithm>
#include <array>
#include <initializer_list>

#include "fuzz/fuzz_support.h"
#include "iommu/agent_queues.h"
#include "iommu/entries.h"
#include "iommu/invalidation_descriptor.h"
#include "iommu/walk.h"

namespace flitwise {
namespace {

using fuzz::Input;
using Block = std::array<std::uint8_t, 64>;

constexpr std::uint64_t kOffset = 0xfff;

IommuCapabilities capabilities_from(Input& input) {
  IommuCapabilities offers;
  const std::uint64_t bits = input.take(3);
  const auto has = [bits](unsigned position) { return (bits >> position & 1U) != 0; };
  offers.host_address_bits = static_cast<std::uint8_t>(36 + (bits >> 16 & 0xfU));
  offers.pasid_bits = has(1) ? 0 : 20;
  offers.first_stage_5_level = !has(2);
  offers.second_stage_5_level = has(3);
  offers.secure_ats = has(20);
  offers.nested = !has(7);
  offers.rid_pasid = !has(9);
  return offers;
}

Block block_from(Input& input) {
  Block block{};
  std::generate(block.begin(), block.end(),
                [&input] { return static_cast<std::uint8_t>(input.take(1)); });
  return block;
}

/// A pointer that was found without reserved bits leads to a page of the host.
void check_pointer(std::uint64_t pointer, bool has_reserved, const IommuCapabilities& offers) {
  FLITWISE_PROPERTY((pointer & kOffset) == 0);
  FLITWISE_PROPERTY(has_reserved || (pointer & bits_from(offers.host_address_bits)) == 0);
}

void check_pasid_entry(const PasidEntry& entry, const IommuCapabilities& offers) {
  FLITWISE_PROPERTY(((entry.first_stage_table() | entry.second_stage_table()) & kOffset) == 0);
  if (!entry.is_valid(offers)) {
    return;
  }
  FLITWISE_PROPERTY(entry.translation() >= TranslationType::kFirstStage &&
                    entry.translation() <= TranslationType::kPassThrough);
  FLITWISE_PROPERTY(!entry.has_first_stage() || entry.first_stage_levels() <= kMaxLevels);
  FLITWISE_PROPERTY(!entry.has_second_stage() ||
                    (entry.second_stage_levels() >= 3 && entry.second_stage_levels() <= 5));
  FLITWISE_PROPERTY(entry.second_stage_bits(offers) <= offers.guest_address_bits());
}

template <class PageEntry>
void check_page_entry(std::uint64_t raw, const IommuCapabilities& offers) {
  PageEntry entry;
  entry.raw = raw;
  for (unsigned level = 1; level <= kMaxLevels; ++level) {
    const bool has_reserved = entry.has_reserved(level, offers);
    check_pointer(entry.table(), has_reserved, offers);
    FLITWISE_PROPERTY(has_reserved || !entry.is_leaf(level) || level <= 3);
    FLITWISE_PROPERTY((entry.page(level) & ~bits_from(span_bits(level))) == 0);
  }
}

void check_entries(const Block& block, const IommuCapabilities& offers) {
  for (const unsigned devfn : {0U, 255U}) {
    const TablePointer root = decode_root(block.data(), devfn, offers);
    // Of a half that is not present no bit is looked at. [IOM-2.2]
    check_pointer(root.table, root.has_reserved || !root.is_present, offers);
  }
  const ContextEntry context{load_u64(block.data()), load_u64(block.data() + 8)};
  check_pointer(context.pasid_directory(), context.has_reserved(offers), offers);
  FLITWISE_PROPERTY(context.rid_pasid() >> kPasidBits == 0);
  FLITWISE_PROPERTY(context.pasid_limit() >= 1U << 13 && context.pasid_limit() <= 1U << kPasidBits);
  const TablePointer directory = decode_pasid_directory(block.data(), offers);
  check_pointer(directory.table, directory.has_reserved, offers);
  check_pasid_entry(decode_pasid(block.data(), offers), offers);
  check_page_entry<FirstStageEntry>(load_u64(block.data()), offers);
  check_page_entry<SecondStageEntry>(load_u64(block.data()), offers);
}

/// The two low quadwords of a descriptor.
struct Words {
  std::uint64_t low = 0, high = 0;
};

/// Writes what was read, from the layout of each type. [IOM-5.2] to [IOM-5.9]
struct DescriptorWriter {
  static std::uint64_t at(std::uint64_t value, unsigned position) { return value << position; }
  static std::uint64_t source(Bdf bdf, unsigned position) { return at(bdf.value, position); }
  static std::uint64_t pasid(Pasid pasid) { return at(to_int(pasid), 32); }
  /// Type, granularity and domain, which stand at one place in all types that have them.
  template <class Command>
  static std::uint64_t head(unsigned type, const Command& command) {
    return type | at(static_cast<std::uint64_t>(command.granularity), 4) | at(command.domain, 16);
  }
  static std::uint64_t physical_function(std::uint16_t function) {
    return at(function & 0xfU, 12) | at(function >> 4U, 52);
  }

  /// Types of more than four bits.
  static std::uint64_t wide_type(unsigned type) { return (type & 0xfU) | at(type >> 4U, 9); }

  Words operator()(DescriptorError /*error*/) const { return {}; }
  Words operator()(const ContextCacheInvalidation& c) const {
    return {head(1, c) | source(c.source, 32) | at(c.function_mask, 48), 0};
  }
  Words operator()(const IotlbInvalidation& c) const {
    return {head(2, c) | at(c.drains_writes, 6) | at(c.drains_reads, 7),
            c.address | c.address_mask | at(c.leaf_only, 6)};
  }
  Words operator()(const DeviceTlbInvalidation& c) const {
    const std::uint64_t function = physical_function(c.physical_function);
    if (c.pasid.has_value()) {
      return {8U | at(c.queue_depth, 4) | source(c.source, 16) | pasid(*c.pasid) | function,
              c.address | std::uint64_t{c.all_pasids} | at(c.is_sized, 11)};
    }
    return {3U | at(c.queue_depth, 16) | source(c.source, 32) | function,
            c.address | std::uint64_t{c.is_sized}};
  }
  Words operator()(const InterruptCacheInvalidation& /*none*/) const { return {4, 0}; }
  Words operator()(const InvalidationWait& c) const {
    return {5U | at(c.interrupts, 4) | at(c.writes_status, 5) | at(c.is_fence, 6) |
                at(c.drains_page_requests, 7) | at(c.status, 32),
            c.status_address};
  }
  Words operator()(const PasidIotlbInvalidation& c) const {
    return {head(6, c) | pasid(c.pasid), c.address | c.address_mask | at(c.leaf_only, 6)};
  }
  Words operator()(const PasidCacheInvalidation& c) const {
    return {head(7, c) | pasid(c.pasid), 0};
  }
  Words operator()(const PageGroupResponse& c) const {
    const std::uint64_t process = c.pasid.has_value() ? at(1, 4) | pasid(*c.pasid) : 0;
    return {9U | process | at(c.code, 12) | source(c.source, 16), at(c.group, 3)};
  }
  Words operator()(const PermissionInvalidation& c) const {
    return {wide_type(kPermissionInvalidationType) | head(0, c) | at(c.all_domains, 6),
            c.address | c.address_mask};
  }
  Words operator()(const HandleInvalidation& c) const {
    return {wide_type(kHandleInvalidationType) | at(static_cast<std::uint64_t>(c.scope), 4) |
                source(c.source, 16) | at(to_int(c.lower), 32) | at(to_int(c.upper), 48),
            0};
  }
};

/// Bits that a type has and nobody asks for.
Words unused_bits(const InvalidationDescriptor& command) {
  if (std::holds_alternative<InterruptCacheInvalidation>(command)) {
    return {0x0000'ffff'f800'0010, 0};  // granularity, index and its mask
  }
  if (const auto* response = std::get_if<PageGroupResponse>(&command)) {
    return {response->pasid.has_value() ? std::uint64_t{0} : 0x000f'ffff'0000'0000,
            4};  // LPIG of old
  }
  return {};
}

// No bit of a descriptor is lost: it is reserved, or stands in what was read.
void check_descriptor(const Block& block, bool is_wide, const IommuCapabilities& offers) {
  const InvalidationDescriptor command = parse_descriptor(block.data(), is_wide, offers);
  if (const auto* error = std::get_if<DescriptorError>(&command)) {
    FLITWISE_PROPERTY(*error >= DescriptorError::kUnknownType && *error <= DescriptorError::kWidth);
    return;
  }
  const Words written = std::visit(DescriptorWriter{}, command);
  const Words unused = unused_bits(command);
  FLITWISE_PROPERTY((load_u64(block.data()) & ~unused.low) == written.low);
  FLITWISE_PROPERTY((load_u64(block.data() + 8) & ~unused.high) == written.high);
}

void check_descriptors(Block block, const IommuCapabilities& offers) {
  check_descriptor(block, false, offers);
  check_descriptor(block, true, offers);
  std::fill(block.begin() + 16, block.end(), std::uint8_t{0});
  check_descriptor(block, true, offers);
}

void check_page_request(const Block& block) {
  const std::optional<PageRequest> request = decode_page_request(block.data());
  if (!request) {
    return;
  }
  FLITWISE_PROPERTY(request->prg_index < 512 && (request->page & kOffset) == 0);
  const PageRequestRecord record = encode_page_request(*request);
  const std::uint64_t pasid = request->pasid.has_value() ? 0x000f'ffff'0000'0000 : 0;
  const std::uint64_t low = 0x0030'0000'ffff'01ff | pasid;
  FLITWISE_PROPERTY(load_u64(record.data()) == (load_u64(block.data()) & low));
  FLITWISE_PROPERTY(load_u64(record.data() + 8) == load_u64(block.data() + 8));
}

WalkRequest request_from(Input& input) {
  WalkRequest request;
  const std::uint64_t flags = input.take(2);
  const auto has = [flags](unsigned position) { return (flags >> position & 1U) != 0; };
  request.kind = static_cast<WalkKind>(flags & 3U);
  request.wish.read = has(2);
  request.wish.write = has(3);
  request.wish.execute = has(4);
  request.wish.privileged = has(5);
  request.wish.zero_length = has(6);
  request.source.value = static_cast<std::uint16_t>(input.take(2));
  request.address = input.take(8);
  if (has(7)) {
    request.pasid = Pasid{static_cast<std::uint32_t>(input.take(3) & 0xf'ffffU)};
  }
  return request;
}

/// Memory answers with what the input has next, says that it failed, or lets bits be set.
void serve(Walk& walk, Input& input) {
  const MemoryAccess access = *walk.next();
  FLITWISE_PROPERTY(access.bytes == 8 || access.bytes == 16 || access.bytes == 32 ||
                    access.bytes == 64);
  FLITWISE_PROPERTY(access.address % access.bytes == 0);
  const std::uint64_t kind = input.take(1);
  if (kind == 0xff) {
    walk.failed();
    return;
  }
  Block block{};
  if (access.kind == MemoryAccess::Kind::kSetBits) {
    FLITWISE_PROPERTY((access.expected & access.bits) != access.bits);
    store_u64(block.data(), (kind & 1U) == 0 ? access.expected : input.take(8));
  } else {
    // Quadwords with the lowest byte last, so that small changes of the input are small numbers.
    for (unsigned i = 0; i < access.bytes; i += 8) {
      store_u64(block.data() + i, input.take(8));
    }
  }
  walk.supply(block.data());
}

void check_result(const Walk& walk, const IommuCapabilities& offers) {
  const WalkResult& result = walk.result();
  const WalkRequest& request = walk.request();
  FLITWISE_PROPERTY((result.outcome == WalkOutcome::kFault) <=
                    (result.fault != FaultReason::kNone));
  FLITWISE_PROPERTY(walk.table_count() <= kMaxLevels);
  FLITWISE_PROPERTY(walk.second_stage_count() <= kMaxLevels + 1);
  if (request.kind == WalkKind::kUntranslated && result.outcome == WalkOutcome::kTranslated) {
    FLITWISE_PROPERTY(!request.wish.write || result.write);
    FLITWISE_PROPERTY(!request.wish.read || result.read || request.wish.zero_length);
    const bool is_paged = result.type != TranslationType::kPassThrough;
    FLITWISE_PROPERTY(!is_paged || (result.address & bits_from(offers.host_address_bits)) == 0);
    FLITWISE_PROPERTY(((result.address ^ request.address) & kOffset) == 0);
  }
  if (request.kind == WalkKind::kTranslationRequest && result.fault != FaultReason::kNone) {
    FLITWISE_PROPERTY(!result.read && !result.write && !result.execute);
  }
}

void check_walk(Input& input, const IommuCapabilities& offers) {
  const WalkRequest request = request_from(input);
  const std::uint64_t mode = input.take(1);
  const RootTable root{input.take(8) & ~kOffset,
                       mode < 4 ? static_cast<TableMode>(mode) : TableMode::kScalable};
  Walk walk(request, root, offers);
  while (!walk.is_done()) {
    serve(walk, input);  // ends at the latest with the input: zeros are present nowhere
  }
  check_result(walk, offers);
}

void check(Input input) {
  const IommuCapabilities offers = capabilities_from(input);
  if ((input.take(1) & 1) != 0) {
    check_walk(input, offers);
    return;
  }
  const Block block = block_from(input);
  check_entries(block, offers);
  check_descriptors(block, offers);
  check_page_request(block);
}

}  // namespace
}  // namespace flitwise

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  flitwise::check(flitwise::fuzz::Input(flitwise::fuzz::bytes_of_input(data, size)));
  return 0;
}
