// SPDX-License-Identifier: Apache-2.0
// First in, first out, and least recently used: one list, which uses reorder or not. Least
// frequently used: a list of entries for each count, so that every step is O(1). [DHI D9]
#include "dhi/device_handle_table.h"

#include <boost/intrusive/list.hpp>

#include <cstdint>
#include <iterator>
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

namespace bi = boost::intrusive;
using Hook = bi::list_base_hook<bi::link_mode<bi::normal_link>>;

/// Buckets stand in rising order of their count; each holds its entries, longest unused first.
class LfuPolicy final : public ReplacementPolicy {
 public:
  // At most one bucket for each entry, and one while an entry moves.
  explicit LfuPolicy(unsigned slots) : nodes_(slots), all_(slots + 1U) {
    spare_.insert(spare_.end(), all_.begin(), all_.end());
  }

  void inserted(Slot slot) override { append(slot, bucket_of(0, buckets_.begin())); }
  void used(Slot slot) override {
    const Bucket& old = *nodes_[slot].bucket;
    Bucket& target = bucket_of(old.uses + 1, std::next(buckets_.iterator_to(old)));
    take_out(slot);
    append(slot, target);
  }
  void removed(Slot slot) override { take_out(slot); }
  std::optional<Slot> first() const override { return first_of(buckets_.begin()); }
  std::optional<Slot> after(Slot slot) const override {
    const Node& node = nodes_[slot];
    const auto next = std::next(node.bucket->nodes.iterator_to(node));
    return next != node.bucket->nodes.end()
               ? slot_of(*next)
               : first_of(std::next(buckets_.iterator_to(*node.bucket)));
  }

 private:
  struct Bucket;
  struct Node : Hook {
    Bucket* bucket = nullptr;
  };
  struct Bucket : Hook {
    std::uint64_t uses = 0;
    bi::list<Node> nodes;
  };
  using Buckets = bi::list<Bucket>;

  Slot slot_of(const Node& node) const { return static_cast<Slot>(&node - nodes_.data()); }
  std::optional<Slot> first_of(Buckets::const_iterator bucket) const {
    return bucket == buckets_.end() ? std::nullopt
                                    : std::optional<Slot>(slot_of(bucket->nodes.front()));
  }
  /// The bucket of that count, which is `at` or goes before it.
  Bucket& bucket_of(std::uint64_t uses, Buckets::const_iterator at) {
    if (at == buckets_.end() || at->uses != uses) {
      Bucket& fresh = spare_.front();
      spare_.pop_front();
      fresh.uses = uses;
      return *buckets_.insert(at, fresh);
    }
    return *at.unconst();
  }
  void append(Slot slot, Bucket& bucket) {
    nodes_[slot].bucket = &bucket;
    bucket.nodes.push_back(nodes_[slot]);
  }
  void take_out(Slot slot) {
    Bucket& bucket = *nodes_[slot].bucket;
    bucket.nodes.erase(bucket.nodes.iterator_to(nodes_[slot]));
    if (bucket.nodes.empty()) {
      buckets_.erase(buckets_.iterator_to(bucket));
      spare_.push_back(bucket);
    }
  }

  std::vector<Node> nodes_;  // by slot
  std::vector<Bucket> all_;
  Buckets buckets_, spare_;
};

}  // namespace

std::unique_ptr<ReplacementPolicy> make_replacement_policy(VictimPolicy policy, unsigned slots) {
  if (policy == VictimPolicy::kLfu) {
    return std::make_unique<LfuPolicy>(slots);
  }
  return std::make_unique<ListPolicy>(slots, policy == VictimPolicy::kLru);
}

}  // namespace flitwise
