// SPDX-License-Identifier: Apache-2.0
// Hostile TLPs. Shares of the kinds are ours: each is frequent enough to meet every check often in
// some ten thousand packets.
#include "workload/hostile_source.h"

#include <algorithm>
#include <iterator>

#include "common/page.h"
#include "dhi/dhi_message.h"
#include "tlp/message_use.h"
#include "tlp/prefix.h"
#include "tlp/tlp_codec.h"

namespace flitwise {
namespace {

constexpr unsigned kMostLengthDw = 1024;
constexpr std::size_t kMostNoise = 64;

}  // namespace

HostileSource::HostileSource(const HostileTarget& target, const Random& random)
    : target_(target), random_(random) {
  payload_.resize(kMostLengthDw * 4);
}

const std::vector<std::uint8_t>& HostileSource::next() {
  bytes_.clear();
  switch (below(8)) {
    case 0:
      bytes_.resize(below(kMostNoise));
      std::generate(bytes_.begin(), bytes_.end(), [&] { return below(256); });
      break;
    case 1:
    case 2: encode_handle_message(); break;
    case 3:
    case 4:
      encode_valid();
      mutate();
      break;
    default: encode_valid(); break;
  }
  return bytes_;
}

void HostileSource::encode_valid() {
  const Tlp tlp = request();
  const std::size_t count = data_bytes(tlp);
  std::generate_n(payload_.begin(), count, [&] { return random_.next(); });
  encode(tlp, payload_.data(), count, bytes_);
}

// ALLOC and DEALLOC with every field random, now and then damaged.
void HostileSource::encode_handle_message() {
  Tlp tlp;
  std::vector<std::uint8_t> payload;
  const Bdf sender = requester();
  // A wrong epoch costs the device all its entries, so that it seldom tries.
  const auto epoch = static_cast<std::uint8_t>(one_in(1024) ? below(256) : 0);
  if (one_in(4)) {
    DeallocMessage message;
    message.scope = one_in(16) ? below<DeallocScope>(4) : DeallocScope::kOne;
    message.dhi = handle();
    message.upper = handle();
    message.function = requester();
    message.epoch = epoch;
    write_dhi_message(tlp, payload, sender, message);
  } else {
    AllocMessage message;
    message.dhi = handle();
    message.identity = identity();
    message.identity.bdf = one_in(4) ? requester() : sender;
    message.is_trusted = one_in(8);
    message.capabilities = static_cast<std::uint16_t>(one_in(4) ? below(65536) : 0);
    message.epoch = epoch;
    write_dhi_message(tlp, payload, sender, message);
  }
  if (one_in(128)) {
    tlp.message_dw3 ^= 1U << below(32);
  }
  if (one_in(8) && !payload.empty()) {
    payload[below(static_cast<unsigned>(payload.size()))] ^=
        static_cast<std::uint8_t>(1U << below(8));
  }
  encode(tlp, payload.data(), payload.size(), bytes_);
  if (one_in(32)) {
    mutate();
  }
}

// Flipped bits, mostly in prefixes and header; bytes cut off or added.
void HostileSource::mutate() {
  const auto size = static_cast<unsigned>(bytes_.size());
  const unsigned flips = below(4);
  for (unsigned i = 0; i < flips && size > 0; ++i) {
    const unsigned at = below(one_in(8) ? size : std::min(size, 24U));
    bytes_[at] ^= static_cast<std::uint8_t>(1U << below(8));
  }
  if (one_in(4)) {
    bytes_.resize(below(size + 1));
  } else if (one_in(4)) {
    bytes_.resize(bytes_.size() + below(32), 0xa5);
  }
}

Tlp HostileSource::request() {
  Tlp tlp;
  // Half of them plain reads and writes: what does most damage if it gets through.
  tlp.type = one_in(2) ? below<TlpType>(kTlpTypes) : one_in(2) ? TlpType::kMRd : TlpType::kMWr;
  tlp.tag = below<std::uint16_t>(1024);
  tlp.requester_id = requester();
  tlp.has_ecrc = one_in(8);
  tlp.is_poisoned = one_in(16);
  if (is_configuration(tlp.type) || is_io(tlp.type)) {
    fill_config_or_io(tlp);
    return tlp;
  }
  tlp.tc = static_cast<std::uint8_t>(one_in(4) ? below(8) : 0);
  tlp.id_based_ordering = one_in(4);
  tlp.relaxed_ordering = one_in(4);
  tlp.no_snoop = one_in(4);
  if (is_completion(tlp.type)) {
    fill_completion(tlp);
  } else if (is_message(tlp.type)) {
    fill_message(tlp);
  } else {
    fill_memory(tlp);
  }
  fill_prefixes(tlp);
  return tlp;
}

void HostileSource::fill_memory(Tlp& tlp) {
  tlp.at = one_in(4) ? below<AddressType>(4) : AddressType::kUntranslated;
  tlp.address = address() & ~std::uint64_t{3};
  tlp.length_dw = static_cast<std::uint16_t>(length_dw());
  if (!one_in(8)) {  // stay inside the page, and mostly within MPS
    const auto room = static_cast<unsigned>((kPageBytes - tlp.address % kPageBytes) / 4);
    tlp.length_dw = static_cast<std::uint16_t>(std::min<unsigned>(tlp.length_dw, room));
  }
  if (is_atomic(tlp.type) && !one_in(4)) {
    tlp.length_dw = tlp.type == TlpType::kCas ? 2 : 1;
  }
  tlp.is_4dw = tlp.address >> 32 != 0 || one_in(4);
  tlp.has_processing_hint = one_in(8);
  tlp.processing_hint = below<std::uint8_t>(4);
  tlp.first_be = static_cast<std::uint8_t>(one_in(16) ? below(16) : 0xfU);
  tlp.last_be = static_cast<std::uint8_t>(one_in(16) ? below(16) : tlp.length_dw > 1 ? 0xfU : 0U);
  if (one_in(2)) {
    const bool has_handle = one_in(2);
    tlp.requester_id = Bdf{};
    apply_identity(tlp, target_.form, identity(),
                   has_handle ? std::optional<Dhi>(handle()) : std::nullopt);
  } else {
    tlp.id_is_handle = one_in(8);
  }
}

void HostileSource::fill_message(Tlp& tlp) {
  static constexpr std::uint8_t kCodes[] = {msg::kInvalidateRequest,
                                            msg::kInvalidateCompletion,
                                            msg::kPageRequest,
                                            msg::kPrgResponse,
                                            msg::kErrFatal,
                                            msg::kPmPme,
                                            msg::kLtr,
                                            msg::kVendorType0,
                                            msg::kVendorType1,
                                            msg::kAssertIntA};
  tlp.is_4dw = true;
  tlp.routing = below<MsgRouting>(6);
  tlp.message_code = one_in(4) ? below<std::uint8_t>(256) : kCodes[below(std::size(kCodes))];
  if (tlp.message_code == msg::kPageRequest && one_in(2)) {
    tlp.routing = MsgRouting::kToRootComplex;
  }
  tlp.message_dw2 = static_cast<std::uint32_t>(random_.next());
  tlp.message_dw3 = static_cast<std::uint32_t>(random_.next());
  if (one_in(2)) {
    tlp.message_dw2 = (tlp.message_dw2 & 0xffff'0000U) | kHandleVendorId;
  }
  tlp.length_dw = static_cast<std::uint16_t>(tlp.type == TlpType::kMsgD ? length_dw() : 0U);
}

void HostileSource::fill_completion(Tlp& tlp) {
  static constexpr CplStatus kAll[] = {CplStatus::kSC, CplStatus::kUR, CplStatus::kRRS,
                                       CplStatus::kCA};
  tlp.completer_id = requester();
  tlp.requester_id = one_in(2) ? Bdf{} : requester();
  tlp.status = kAll[below(4)];
  tlp.byte_count = static_cast<std::uint16_t>(1 + below(4096));
  tlp.lower_address = below<std::uint8_t>(128);
  tlp.length_dw = static_cast<std::uint16_t>(has_data(tlp.type) ? length_dw() : 0U);
}

void HostileSource::fill_config_or_io(Tlp& tlp) {
  tlp.length_dw = 1;
  tlp.first_be = below<std::uint8_t>(16);
  if (is_configuration(tlp.type)) {
    tlp.completer_id = requester();
    tlp.register_offset = static_cast<std::uint16_t>(below(1024) * 4);
  } else {
    tlp.address = std::uint64_t{below(1U << 30)} * 4;
  }
}

void HostileSource::fill_prefixes(Tlp& tlp) {
  if (!tlp.has_pasid && may_carry_pasid(tlp) && one_in(2)) {
    tlp.has_pasid = true;
    tlp.pasid = Pasid{below(1U << (one_in(2) ? 8 : kPasidBits))};
    tlp.privileged_mode_requested = one_in(2);
    tlp.execute_requested = one_in(2);
  }
  for (unsigned more = one_in(16) ? 1 + below(4) : 0;
       more > 0 && tlp.other_prefix_count < tlp.other_prefixes.size(); --more) {
    const std::uint32_t first_byte = one_in(8) ? prefix::kPasid : prefix::kVendorEndEnd0;
    tlp.other_prefixes[tlp.other_prefix_count++] = first_byte << 24 | below(1U << 24);
  }
}

DeviceIdentity HostileSource::identity() {
  DeviceIdentity identity;
  identity.bdf = requester();
  if (!one_in(4)) {
    identity.pasid = Pasid{below(1U << (one_in(4) ? kPasidBits : 8))};
    identity.privileged_mode_requested = one_in(2);
    identity.execute_requested = one_in(2);
  }
  return identity;
}

// One of its own, a neighbour's, or any.
Bdf HostileSource::requester() {
  const unsigned choice = below(8);
  const unsigned function = choice < 6 ? below(target_.functions) : below(64);
  return choice == 7 ? Bdf{below<std::uint16_t>(65536)}
                     : Bdf{static_cast<std::uint16_t>(target_.base.value + function +
                                                      (choice == 6 ? 256U : 0U))};
}

// One of its own, one of whoever has the next handles, or any that the form can hold.
Dhi HostileSource::handle() {
  const HandleRange own = target_.handles;
  const bool is_in_tag =
      target_.form.identity == Identity::kDhi && target_.form.dhi_form == DhiForm::kTag;
  const unsigned most = 1U << (is_in_tag ? 10 : kMaxHandleBits);
  const unsigned first = to_int(own.lower) + (one_in(4) ? own.size() : 0U);
  const unsigned handle = one_in(8) ? below(most) : first + below(std::max(own.size(), 1U));
  return Dhi{static_cast<std::uint16_t>(handle % most)};
}

std::uint64_t HostileSource::address() {
  switch (below(12)) {
    case 0: return random_.next();
    case 1: return random_.below(target_.memory);
    case 2: return target_.memory - 64 + below(128);  // around the end
    case 3: return ~std::uint64_t{0} - below(8192);
    case 4: return kInterruptWindow + below(1U << 21);
    default: return target_.buffer + random_.below(std::uint64_t{1} << 20);
  }
}

unsigned HostileSource::length_dw() {
  return 1 + (one_in(16) ? below(kMostLengthDw) : below(one_in(4) ? 128 : 16));
}

}  // namespace flitwise
