// SPDX-License-Identifier: Apache-2.0
/// Translation Requests of firmware that translates static structures ahead of use, and their
/// answers, in the stream of packets of a device. [EP-3]
#pragma once

#include <cstdint>
#include <vector>

#include "ats/translation_completion.h"
#include "endpoint/ats_unit.h"
#include "endpoint/request_seams.h"
#include "endpoint/static_seams.h"

namespace flitwise {

class StaticRequests final : public TranslationInterface {
 public:
  StaticRequests(const EndpointConfig& config, const DeviceParts& parts, AtsUnit& unit,
                 TagTable& tags, Handles& handles)
      : config_(config), s_(parts), unit_(unit), tags_(tags), handles_(handles) {}

  /// Before the simulation starts.
  void attach(StaticTranslations& firmware) { firmware_ = &firmware; }
  /// Null: the device has none.
  StaticTranslations* firmware() const { return firmware_; }

  bool ask(DomainId domain, std::uint64_t address, std::uint32_t request, bool counts,
           Time now) override;
  void try_again(Time when) override;
  OptionalId<Pasid> pasid_of(DomainId domain) const override;

  /// Is it one of these?
  static bool has(const OutstandingRequest& request) { return (request.transfer & kOwn) != 0; }
  /// A completion for one. [TCP-01] to [TCP-08]
  void complete(unsigned function, const Packet& packet, const OutstandingRequest& request,
                Time now);
  /// It will have no answer. [ATR-25]
  void give_up(const OutstandingRequest& request, Time now);

 private:
  static constexpr std::uint32_t kOwn = 1U << 31;  // beside the number of a request

  const EndpointConfig& config_;
  const DeviceParts& s_;
  AtsUnit& unit_;
  TagTable& tags_;
  Handles& handles_;
  StaticTranslations* firmware_ = nullptr;
  std::vector<TranslationReceiver> receivers_;  // by request
};

/// Why a reply brings nothing, for the errors of the run; null where it is one. [TCP-04] to
/// [TCP-08]
const char* problem_of(TranslationVerdict verdict);

}  // namespace flitwise
