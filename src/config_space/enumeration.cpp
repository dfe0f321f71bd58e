// SPDX-License-Identifier: Apache-2.0
// The resumable sequence of accesses, and the queries on what was found.
#include "config_space/enumeration.h"

#include <utility>

#include "config_space/enumeration_plan.h"
#include "flitwise/error.h"

namespace flitwise {

namespace {
std::optional<std::uint16_t> offset_of(
    const std::vector<std::pair<std::uint16_t, std::uint16_t>>& chain, std::uint16_t id) {
  for (const auto& [found_id, offset] : chain) {
    if (found_id == id) {
      return offset;
    }
  }
  return std::nullopt;
}
}  // namespace

std::optional<std::uint16_t> FoundFunction::capability(std::uint16_t id) const {
  return offset_of(capabilities, id);
}

std::optional<std::uint16_t> FoundFunction::extended_capability(std::uint16_t id) const {
  return offset_of(extended, id);
}

Enumerator::Enumerator(EnumeratorOptions options)
    : plan_(std::make_unique<Plan>(std::move(options))) {
  plan_->start();
}

Enumerator::~Enumerator() = default;
Enumerator::Enumerator(Enumerator&& other) noexcept = default;
Enumerator& Enumerator::operator=(Enumerator&& other) noexcept = default;

std::optional<CfgAccess> Enumerator::next() const {
  return plan_->next();
}

void Enumerator::answer(std::uint32_t value, bool unsupported_request) {
  plan_->answer(value, unsupported_request);
}

const EnumerationResult& Enumerator::result() const {
  FLITWISE_CHECK(!plan_->next(), "enumeration has not ended");
  return plan_->result;
}

}  // namespace flitwise
