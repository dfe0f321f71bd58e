// SPDX-License-Identifier: Apache-2.0
// Commands of the invalidation queue by their fields. [IOM-5.1]
#include "common/page.h"
#include "script/op_reader.h"

namespace flitwise {
namespace {

// The words of a granularity from `first` on.
template <class Granularity>
void read_granularity(OpReader& in, const std::vector<std::string>& words, unsigned first,
                      Granularity& out) {
  out = static_cast<Granularity>(first + in.word("granularity", words));
}

void read_page(OpReader& in, std::uint64_t& address) {
  in.number("addr", 0, kAnyNumber, address);
  if (address % kPageBytes != 0) {
    in.complain("addr", "is no multiple of 4 KiB; expected the address of a page");
  }
}

// Pages from an address on: 2^address_mask of them.
template <class Command>
void read_pages(OpReader& in, Command& command) {
  read_page(in, command.address);
  in.number("address_mask", 0, kMaxAddressMask, command.address_mask);
}

void read_pasid(OpReader& in, Pasid& pasid) {
  OptionalId<Pasid> given;
  in.pasid(given);
  pasid = given.value_or(Pasid{});
}

InvalidationDescriptor read_context(OpReader& in) {
  ContextCacheInvalidation command;
  read_granularity(in, {"global", "domain", "device"}, 1, command.granularity);
  in.number("domain", 0, kMost16, command.domain);
  in.bdf("rid", command.source);
  in.number("function_mask", 0, 3, command.function_mask);
  return command;
}

InvalidationDescriptor read_iotlb(OpReader& in) {
  IotlbInvalidation command;
  read_granularity(in, {"global", "domain", "page"}, 1, command.granularity);
  in.number("domain", 0, kMost16, command.domain);
  read_pages(in, command);
  in.flag("leaf_only", command.leaf_only);
  in.flag("drain_reads", command.drains_reads);
  in.flag("drain_writes", command.drains_writes);
  return command;
}

InvalidationDescriptor read_pasid_iotlb(OpReader& in) {
  PasidIotlbInvalidation command;
  read_granularity(in, {"pasid", "page"}, 2, command.granularity);
  in.number("domain", 0, kMost16, command.domain);
  read_pasid(in, command.pasid);
  read_pages(in, command);
  in.flag("leaf_only", command.leaf_only);
  return command;
}

InvalidationDescriptor read_pasid_cache(OpReader& in) {
  using Granularity = PasidCacheInvalidation::Granularity;
  constexpr Granularity kAll[] = {Granularity::kGlobal, Granularity::kDomain, Granularity::kPasid};
  PasidCacheInvalidation command;
  command.granularity = kAll[in.word("granularity", {"global", "domain", "pasid"})];
  in.number("domain", 0, kMost16, command.domain);
  read_pasid(in, command.pasid);
  return command;
}

InvalidationDescriptor read_device_tlb(OpReader& in) {
  DeviceTlbInvalidation command;
  in.bdf(in.need("rid"), command.source);
  in.pasid(command.pasid);
  in.number("addr", 0, kAnyNumber, command.address);
  in.flag("sized", command.is_sized);
  in.flag("all_pasids", command.all_pasids);
  in.number("queue_depth", 0, 31, command.queue_depth);
  in.number("pfsid", 0, kMost16, command.physical_function);
  command.address &= kPageAddress;
  return command;
}

InvalidationDescriptor read_wait(OpReader& in) {
  InvalidationWait command;
  in.flag("interrupt", command.interrupts);
  in.flag("fence", command.is_fence);
  in.flag("drain_page_requests", command.drains_page_requests);
  in.number("status", 0, kMost32, command.status);
  in.number("status_addr", 0, kAnyNumber, command.status_address);
  command.writes_status = in.has("status_addr");
  if (in.has("status") && !command.writes_status) {
    in.complain("status", "goes nowhere; expected status_addr beside it");
  }
  if (command.status_address % 4 != 0) {
    in.complain("status_addr", "is no multiple of 4");
  }
  return command;
}

InvalidationDescriptor read_page_response(OpReader& in) {
  PageGroupResponse command;
  in.bdf(in.need("rid"), command.source);
  in.pasid(command.pasid);
  in.number("code", 0, 15, command.code);
  in.number("group", 0, 511, command.group);
  return command;
}

InvalidationDescriptor read_handles(OpReader& in) {
  constexpr std::uint64_t kMostHandle = 4095;
  HandleInvalidation command;
  in.bdf(in.need("rid"), command.source);
  command.scope = static_cast<DeallocScope>(in.word("scope", {"one", "range", "function", "all"}));
  in.number("dhi", 0, kMostHandle, command.lower);
  in.number("upper", 0, kMostHandle, command.upper);
  return command;
}

struct CommandReader {
  const char* type;
  InvalidationDescriptor (*read)(OpReader& in);
};
constexpr CommandReader kReaders[] = {{"context", read_context},
                                      {"iotlb", read_iotlb},
                                      {"pasid_iotlb", read_pasid_iotlb},
                                      {"pasid_cache", read_pasid_cache},
                                      {"device_tlb", read_device_tlb},
                                      {"wait", read_wait},
                                      {"page_response", read_page_response},
                                      {"handles", read_handles}};

}  // namespace

void read_op(OpReader& in, InvalidateOp& op) {
  std::vector<std::string> types;
  for (const CommandReader& reader : kReaders) {
    types.emplace_back(reader.type);
  }
  std::optional<std::size_t> type;
  in.word(in.need("type"), types, type);
  in.flag("submit", op.submits);
  if (type) {
    op.command = kReaders[*type].read(in);
  }
}

}  // namespace flitwise
