// SPDX-License-Identifier: Apache-2.0
// Least recently used. [DHI D9]
#include "dhi/replacement_policy.h"

namespace flitwise {
namespace {

class LruPolicy : public ReplacementPolicy {
 public:
  explicit LruPolicy(unsigned slots) : order_(slots) {}

  void inserted(Slot slot) override { order_.push_back(slot); }
  void used(Slot slot) override { order_.move_to_back(slot); }
  void removed(Slot slot) override { order_.erase(slot); }
  std::optional<Slot> first() const override { return order_.front(); }
  std::optional<Slot> after(Slot slot) const override { return order_.next(slot); }

 private:
  SlotList order_;  // longest unused first
};

}  // namespace

std::unique_ptr<ReplacementPolicy> make_lru_policy(unsigned slots) {
  return std::make_unique<LruPolicy>(slots);
}

}  // namespace flitwise
