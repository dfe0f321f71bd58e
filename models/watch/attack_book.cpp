// SPDX-License-Identifier: Apache-2.0
// Attacks by kind.
#include "watch/attack_book.h"

#include <string_view>
#include <variant>

#include "common/ranges.h"
#include "dhi/dhi_message.h"
#include "tlp/atomic_op.h"
#include "tlp/identity.h"
#include "tlp/message_use.h"
#include "workload/workload.h"

namespace flitwise {
namespace {

// What a device is refused for its own sake is no harm.
std::uint64_t harm_of(const HostHandleStatistics& seen) {
  constexpr auto kUnknown = static_cast<std::size_t>(HandleStatus::kNoValidEntry);
  return seen.rejections[kUnknown] + seen.wrong_domain;
}

}  // namespace

const char* name_of(Attack attack) {
  static constexpr std::array<const char*, kAttacks> kNames = {
      "requester_id",         "pasid",          "handle",    "translated_address", "process",
      "untranslated_address", "handle_message", "completion"};
  return kNames[static_cast<std::size_t>(attack)];
}

AttackBook::AttackBook(const Config& config, const Fabric& fabric)
    : Bystander("attacks"),
      fabric_(fabric),
      form_{config.link.identity, config.link.dhi_form, config.device.dhi.bits} {
  for (const FabricDevice& device : fabric.devices) {
    if (device.config.workload.kind == WorkloadKind::kHostile) {
      attackers_.push_back(attacker_of(config, device));
    }
  }
}

AttackBook::Attacker AttackBook::attacker_of(const Config& config, const FabricDevice& device) {
  Attacker attacker;
  attacker.device = &device;
  attacker.share = DeviceShare::of(config, device);
  const WorkloadConfig& workload = device.config.workload;
  const auto buffers = [&workload](std::uint64_t first, std::uint64_t end) {
    return WatchedSpan{workload.buffer_base + first * workload.buffer_size,
                       workload.buffer_base + end * workload.buffer_size - 1};
  };
  attacker.own = buffers(attacker.share.first_domain, attacker.share.end_domain);
  attacker.of_device = buffers(0, domain_ids(workload));
  return attacker;
}

void AttackBook::begin() {
  if (has_begun_ || attackers_.empty()) {
    return;
  }
  has_begun_ = true;
  completions_before_ = raw_completions();
  for (const auto& port : fabric_.root_ports) {
    if (const Attacker* const attacker = attacker_at(port->name())) {
      port->watch_memory([this, attacker](const Packet& packet, std::uint64_t address) {
        reached_memory(*attacker, packet, address);
      });
    }
  }
  for (const auto& one : fabric_.switches) {
    const unsigned host = fabric_.graph[*fabric_.graph.find(one->name())].host;
    one->watch_fates(
        [this, host, sw = one.get()](const Packet& packet, std::uint16_t port, TlpFate fate) {
          const bool is_below = port != kUpstreamPort;
          told_by_switch(packet, host, is_below ? &sw->routing().downstream(port) : nullptr, fate);
        });
  }
}

// The first of those below the port.
const AttackBook::Attacker* AttackBook::attacker_at(std::string_view root_port) const {
  return find_where(attackers_, [&](const Attacker& one) {
    return std::string_view(one.device->root_port->name()) == root_port;
  });
}

std::uint64_t AttackBook::raw_completions() const {
  return sum_of<std::uint64_t>(fabric_.root_ports,
                               [](const auto& port) { return port->counters().raw_completions; });
}

// Whom the host takes it for, where it has found that out; else whom it names.
std::optional<Attack> AttackBook::attack_of(const Attacker& attacker, const Packet& packet) const {
  const Tlp& tlp = packet.tlp;
  const bool is_memory = is_memory_request(tlp.type) && tlp.type != TlpType::kMRdLk;
  if (is_completion(tlp.type)) {
    return Attack::kCompletion;
  }
  const bool touches_nothing = !is_atomic(tlp.type) && (tlp.first_be | tlp.last_be) == 0;
  if (!is_memory || touches_nothing || touches_interrupt_window(tlp) ||
      tlp.at == AddressType::kTranslationRequest) {
    return std::nullopt;
  }
  const OptionalId<Dhi> handle = handle_of(tlp, form_);
  if (handle && !attacker.device->range.contains(*handle)) {
    return Attack::kHandle;
  }
  if (!handle || packet.resolved) {
    const DeviceIdentity identity =
        packet.resolved ? *packet.resolved : identity_of(tlp, form_).full;
    if (!owns_function(*attacker.device, identity.bdf)) {
      return Attack::kRequesterId;
    }
    if (!attacker.share.has(identity.pasid)) {
      return Attack::kPasid;
    }
  }
  const std::uint64_t bytes = bytes_named(tlp);
  if (attacker.own.contains(tlp.address, bytes)) {
    return std::nullopt;
  }
  if (attacker.of_device.contains(tlp.address, bytes)) {
    return Attack::kProcess;
  }
  return tlp.at == AddressType::kTranslated ? Attack::kTranslated : Attack::kUntranslated;
}

// A name that is not its own gets through with any access; its own one beyond its memory alone.
void AttackBook::reached_memory(const Attacker& attacker, const Packet& packet,
                                std::uint64_t address) {
  if (!is_hostile(packet)) {
    return;
  }
  const std::optional<Attack> attack = attack_of(attacker, packet);
  if (!attack) {
    return;
  }
  ++at(*attack).tried;
  const bool names_others =
      *attack == Attack::kRequesterId || *attack == Attack::kPasid || *attack == Attack::kHandle;
  const bool is_inside = attacker.own.contains(address, bytes_named(packet.tlp));
  at(*attack).through += names_others || !is_inside ? 1 : 0;
}

bool AttackBook::is_foreign_message(const Attacker& attacker, const Packet& packet) {
  const DhiMessage message =
      parse_dhi_message(packet.tlp, packet.payload.data(), packet.payload.size());
  if (!owns_function(*attacker.device, packet.tlp.requester_id)) {
    return true;
  }
  if (const auto* alloc = std::get_if<AllocMessage>(&message)) {
    return !attacker.device->range.contains(alloc->dhi) ||
           !owns_function(*attacker.device, alloc->identity.bdf) ||
           !attacker.share.has(alloc->identity.pasid);
  }
  if (const auto* dealloc = std::get_if<DeallocMessage>(&message)) {
    const bool has_handle =
        dealloc->scope == DeallocScope::kOne || dealloc->scope == DeallocScope::kRange;
    return (has_handle && !attacker.device->range.contains(dealloc->dhi)) ||
           (dealloc->scope == DeallocScope::kFunction &&
            !owns_function(*attacker.device, dealloc->function));
  }
  return false;
}

void AttackBook::count_tried(const Attacker& attacker, const Packet& packet) {
  if (is_dhi_message(packet.tlp)) {
    at(Attack::kHandleMessage).tried += is_foreign_message(attacker, packet) ? 1 : 0;
  } else if (const std::optional<Attack> attack = attack_of(attacker, packet)) {
    ++at(*attack).tried;
  }
}

void AttackBook::notice(const Observation& seen) {
  const std::string_view what = seen.what;
  // A timeout is told by who has sent the request, and of its own choice: nobody was attacked.
  if (!has_begun_ || !is_hostile(*seen.packet) || what == "completion_timeout") {
    return;
  }
  if (told_by_peer(*seen.packet, what)) {
    return;
  }
  const std::string_view detail = seen.detail;
  const bool is_refusal = (what == "unsupported_request" || what == "completer_abort" ||
                           what == "unexpected_completion") &&
                          detail != "poisoned_tlp" && detail != "memory_error" &&
                          !is_dhi_message(seen.packet->tlp);
  const Attacker* const attacker = attacker_at(seen.place);
  if (attacker != nullptr && (what == "message" || is_refusal)) {
    count_tried(*attacker, *seen.packet);
  }
}

// Of a TLP that has gone across: what its receiver says of it ends it. Damage is no attack.
bool AttackBook::told_by_peer(const Packet& packet, std::string_view what) {
  const auto one = across_.find(packet.uid);
  if (one == across_.end()) {
    return false;
  }
  const bool is_poison = what == "poisoned_tlp";
  const bool is_taken = what == "message" || what == "violation" || what == "warning" ||
                        (is_poison && one->second == Attack::kCompletion);  // [LNK-9.26]
  if (!is_taken) {
    const bool is_damaged = is_poison || what == "malformed_tlp" || what == "ecrc_check_failed";
    at(one->second).tried += is_damaged ? 0 : 1;
    across_.erase(one);
  }
  return true;
}

void AttackBook::told_by_switch(const Packet& packet, unsigned host, const Bridge* port,
                                TlpFate fate) {
  if (!is_hostile(packet) || told_by_peer(packet, "refused") || port == nullptr) {
    return;
  }
  const auto attacker = find_if(attackers_, [&](const Attacker& one) {
    return one.device->host == host && port->owns_bus(one.device->buses.secondary);
  });
  if (attacker == attackers_.end()) {
    return;
  }
  if (fate == TlpFate::kRefused) {
    count_tried(*attacker, packet);
  } else if (is_dhi_message(packet.tlp)) {  // whatever it says is about somebody else
    across_.emplace(packet.uid, Attack::kHandleMessage);
  } else if (const std::optional<Attack> attack = attack_of(*attacker, packet)) {
    across_.emplace(packet.uid, *attack);
  }
}

// Handles that an attacker has given a name which is not its own, and uses of handles by others
// that found no entry or gave another domain than they meant.
std::uint64_t AttackBook::handles_taken() const {
  std::uint64_t taken = 0;
  for (const FabricDevice& device : fabric_.devices) {
    if (device.handles == nullptr || device.range.size() == 0) {
      continue;
    }
    const HostHandleTable& table = device.handles->table();
    const auto attacker =
        find_if(attackers_, [&](const Attacker& one) { return one.device == &device; });
    if (attacker == attackers_.end()) {
      const auto partition = table.partition_of(device.endpoint->base());
      taken += partition ? harm_of(table.statistics(*partition)) : 0;
      continue;
    }
    for (unsigned i = 0; i < device.range.size(); ++i) {
      const auto entry = table.resolve(device.range.at(i));
      taken += entry && (!owns_function(*attacker->device, entry->identity.bdf) ||
                         !attacker->share.has(entry->identity.pasid))
                   ? 1
                   : 0;
    }
  }
  return taken;
}

void AttackBook::report(RunResult& result) const {
  if (attackers_.empty()) {
    return;
  }
  std::array<Count, kAttacks> counts = counts_;
  const auto add = [&counts](Attack attack, std::uint64_t tried, std::uint64_t through) {
    counts[static_cast<std::size_t>(attack)].tried += tried;
    counts[static_cast<std::size_t>(attack)].through += through;
  };
  const std::uint64_t taken = raw_completions() - completions_before_;
  add(Attack::kCompletion, taken, taken);
  add(Attack::kHandleMessage, 0, handles_taken());
  for (const auto& [uid, attack] : across_) {
    add(attack, 1, 1);
  }
  for (std::size_t i = 0; i < kAttacks; ++i) {
    result.rows<AttackResult>().push_back(
        {name_of(static_cast<Attack>(i)), counts[i].tried, counts[i].through});
  }
}

}  // namespace flitwise
