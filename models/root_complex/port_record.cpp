// SPDX-License-Identifier: Apache-2.0
// Counters of a root port.
#include "root_complex/port_record.h"

#include <fmt/format.h>

#include "flitwise/link_socket.h"

namespace flitwise {

void PortRecord::observe(const char* what, const char* detail, const Packet& packet) const {
  if (observer_ != nullptr && *observer_) {
    (*observer_)({now(), port_, what, detail, &packet});
  }
}

void PortRecord::settle(const Packet& packet) {
  const bool is_own_account =
      packet.purpose != HandlePurpose::kNone || packet.tlp.at == AddressType::kTranslationRequest;
  const bool is_request = !is_completion(packet.tlp.type) && !is_message(packet.tlp.type);
  counters.settled += is_request && !is_own_account ? 1 : 0;
}

void PortRecord::note(const Packet& packet, cfg::aer::Uncorrectable error, const char* kind,
                      const char* detail) {
  using cfg::aer::Uncorrectable;
  ++errors_[kind];
  const char* const event = error == Uncorrectable::kCompleterAbort       ? "completer_abort"
                            : error == Uncorrectable::kUnsupportedRequest ? "unsupported_request"
                                                                          : kind;
  observe(event, detail, packet);
  if (host_ != nullptr) {
    host_->report(error, packet);
  }
}

void PortRecord::end(const Packet& packet) {
  ++counters.refused;
  settle(packet);
  counters.dropped_bytes += packet.tlp.type == TlpType::kMWr ? packet.payload_bytes : 0;
}

void PortRecord::drop(const Packet& packet, cfg::aer::Uncorrectable error, const char* kind) {
  end(packet);
  note(packet, error, kind, kind);
}

void PortRecord::drop_malformed(const Packet& packet, TlpViolation violation) {
  ++errors_[std::string("malformed_tlp.") + name_of(violation)];
  end(packet);
  note(packet, cfg::aer::Uncorrectable::kMalformedTlp, "malformed_tlp", name_of(violation));
}

std::vector<CheckResult> PortRecord::checks() const {
  const std::string at = port_;
  const RootPortCounters& c = counters;
  const std::uint64_t settled = c.writes + c.reads + c.interrupts + c.messages + c.handle_messages +
                                c.completions + c.refused;
  return {
      {at + ": every TLP was served or refused", c.received == settled,
       fmt::format("{} received, {} settled", c.received, settled)},
      {at + ": one answer for each request", c.nonposted == c.answered,
       fmt::format("{} requests, {} answers", c.nonposted, c.answered)},
  };
}

}  // namespace flitwise
