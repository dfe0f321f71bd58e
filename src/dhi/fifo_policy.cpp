// SPDX-License-Identifier: Apache-2.0
// First in, first out. [DHI D9]
#include "dhi/replacement_policy.h"

namespace flitwise {
namespace {

class FifoPolicy : public ReplacementPolicy {
 public:
  explicit FifoPolicy(unsigned slots) : order_(slots) {}

  void inserted(Slot slot) override { order_.push_back(slot); }
  void used(Slot) override {}
  void removed(Slot slot) override { order_.erase(slot); }
  std::optional<Slot> first() const override { return order_.front(); }
  std::optional<Slot> after(Slot slot) const override { return order_.next(slot); }

 private:
  SlotList order_;  // oldest allocation first
};

}  // namespace

std::unique_ptr<ReplacementPolicy> make_fifo_policy(unsigned slots) {
  return std::make_unique<FifoPolicy>(slots);
}

}  // namespace flitwise
