// SPDX-License-Identifier: Apache-2.0
/// The components of a machine in the order of its results, and which device each belongs to.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "common/component.h"
#include "common/ranges.h"

namespace flitwise {

class ComponentList {
 public:
  /// `device`: it serves that one alone, so that its window is that of the device. It outlives all
  /// use of the list.
  void add(Component& component, std::optional<std::size_t> device = std::nullopt) {
    all_.push_back(&component);
    if (!device) {
      shared_.push_back(&component);
      return;
    }
    if (of_device_.size() <= *device) {
      of_device_.resize(*device + 1);
    }
    of_device_[*device].push_back(&component);
  }
  /// Null does nothing.
  void add(Component* component, std::optional<std::size_t> device = std::nullopt) {
    if (component != nullptr) {
      add(*component, device);
    }
  }
  /// One that nobody else holds.
  void own(std::unique_ptr<Component> component, std::optional<std::size_t> device = std::nullopt) {
    add(*component, device);
    owned_.push_back(std::move(component));
  }

  /// In the order in which they were added.
  class Components {
   public:
    void push_back(Component* one) { all_.push_back(one); }
    auto begin() const { return all_.begin(); }
    auto end() const { return all_.end(); }
    Component* operator[](std::size_t i) const { return all_[i]; }
    std::size_t size() const { return all_.size(); }
    bool empty() const { return all_.empty(); }
    /// Is this member function true of all of them? Who was the last to deny something is asked
    /// first: it mostly denies the next question too.
    bool agree(bool (Component::*is_so)() const) const {
      if (!empty() && !(all_[denied_]->*is_so)()) {
        return false;
      }
      for (std::size_t i = 0; i < size(); ++i) {
        if (!(all_[i]->*is_so)()) {
          denied_ = i;
          return false;
        }
      }
      return true;
    }

   private:
    std::vector<Component*> all_;
    mutable std::size_t denied_ = 0;
  };
  const Components& all() const { return all_; }
  const Components& of(std::size_t device) const { return of_device_[device]; }
  const Components& shared() const { return shared_; }
  std::size_t devices() const { return of_device_.size(); }

 private:
  Components all_, shared_;
  std::vector<Components> of_device_;
  std::vector<std::unique_ptr<Component>> owned_;
};

/// Is this member function true of all of them?
inline bool all_of(const ComponentList::Components& list, bool (Component::*is_so)() const) {
  return list.agree(is_so);
}

/// The latest of what they say.
inline Time latest(const ComponentList::Components& list, Time (Component::*when)() const) {
  Time last{};
  for (const Component* one : list) {
    last = std::max(last, (one->*when)());
  }
  return last;
}

}  // namespace flitwise
