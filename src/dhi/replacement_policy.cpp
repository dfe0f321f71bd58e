// SPDX-License-Identifier: Apache-2.0
// First in, first out, and least recently used: one list, which uses reorder or not. Least
// frequently used: a list of entries for each count, so that every step is O(1). [DHI D9]
#include "dhi/replacement_policy.h"

#include <cstdint>
#include <vector>

namespace flitwise {
namespace {

class ListPolicy final : public ReplacementPolicy {
 public:
  ListPolicy(unsigned slots, bool reorders) : order_(slots), reorders_(reorders) {}

  void inserted(Slot slot) override { order_.push_back(slot); }
  void used(Slot slot) override {
    if (reorders_) {
      order_.move_to_back(slot);
    }
  }
  void removed(Slot slot) override { order_.erase(slot); }
  std::optional<Slot> first() const override { return order_.front(); }
  std::optional<Slot> after(Slot slot) const override { return order_.next(slot); }

 private:
  SlotList order_;  // the next victim first
  const bool reorders_;
};

constexpr std::uint32_t kNone = 0xffff'ffffU;

/// Buckets stand in rising order of their count; each holds its entries, longest unused first.
class LfuPolicy : public ReplacementPolicy {
 public:
  explicit LfuPolicy(unsigned slots) : nodes_(slots), buckets_(slots + 1U) {
    for (std::uint32_t i = 0; i < buckets_.size(); ++i) {
      spare_.push_back(i);
    }
  }

  void inserted(Slot slot) override {
    if (lowest_ == kNone || buckets_[lowest_].uses != 0) {
      lowest_ = new_bucket(0, kNone, lowest_);
    }
    append(slot, lowest_);
  }

  void used(Slot slot) override {
    const std::uint32_t old = nodes_[slot].bucket;
    const std::uint64_t uses = buckets_[old].uses + 1;
    std::uint32_t target = buckets_[old].next;
    if (target == kNone || buckets_[target].uses != uses) {
      target = new_bucket(uses, old, target);
    }
    take_out(slot);
    append(slot, target);
  }

  void removed(Slot slot) override { take_out(slot); }

  std::optional<Slot> first() const override {
    return lowest_ == kNone ? std::nullopt : std::optional<Slot>(buckets_[lowest_].head);
  }

  std::optional<Slot> after(Slot slot) const override {
    const Node& node = nodes_[slot];
    if (node.next != kNone) {
      return node.next;
    }
    const std::uint32_t bucket = buckets_[node.bucket].next;
    return bucket == kNone ? std::nullopt : std::optional<Slot>(buckets_[bucket].head);
  }

 private:
  struct Node {
    Slot previous = kNone;
    Slot next = kNone;
    std::uint32_t bucket = kNone;
  };
  struct Bucket {
    std::uint64_t uses = 0;
    Slot head = kNone;
    Slot tail = kNone;
    std::uint32_t previous = kNone;
    std::uint32_t next = kNone;
  };

  std::uint32_t new_bucket(std::uint64_t uses, std::uint32_t previous, std::uint32_t next) {
    const std::uint32_t bucket = spare_.back();
    spare_.pop_back();
    buckets_[bucket] = {uses, kNone, kNone, previous, next};
    if (previous != kNone) {
      buckets_[previous].next = bucket;
    }
    if (next != kNone) {
      buckets_[next].previous = bucket;
    }
    return bucket;
  }

  void append(Slot slot, std::uint32_t bucket) {
    Bucket& b = buckets_[bucket];
    nodes_[slot] = {b.tail, kNone, bucket};
    (b.tail == kNone ? b.head : nodes_[b.tail].next) = slot;
    b.tail = slot;
  }

  void take_out(Slot slot) {
    const Node node = nodes_[slot];
    Bucket& bucket = buckets_[node.bucket];
    (node.previous == kNone ? bucket.head : nodes_[node.previous].next) = node.next;
    (node.next == kNone ? bucket.tail : nodes_[node.next].previous) = node.previous;
    nodes_[slot] = {};
    if (bucket.head == kNone) {
      drop_bucket(node.bucket);
    }
  }

  void drop_bucket(std::uint32_t index) {
    const Bucket& bucket = buckets_[index];
    (bucket.previous == kNone ? lowest_ : buckets_[bucket.previous].next) = bucket.next;
    if (bucket.next != kNone) {
      buckets_[bucket.next].previous = bucket.previous;
    }
    spare_.push_back(index);
  }

  std::vector<Node> nodes_;
  std::vector<Bucket> buckets_;  // at most one per entry, and one while an entry moves
  std::vector<std::uint32_t> spare_;
  std::uint32_t lowest_ = kNone;
};

}  // namespace

std::unique_ptr<ReplacementPolicy> make_replacement_policy(VictimPolicy policy, unsigned slots) {
  if (policy == VictimPolicy::kLfu) {
    return std::make_unique<LfuPolicy>(slots);
  }
  return std::make_unique<ListPolicy>(slots, policy == VictimPolicy::kLru);
}

}  // namespace flitwise
