// SPDX-License-Identifier: Apache-2.0
// Windows and their figures.
#include "system/measurement.h"

#include <boost/range/algorithm_ext/push_back.hpp>

#include "flitwise/link_socket.h"

namespace flitwise {
namespace {

void for_each(const ComponentList::Components& list, void (Component::*what)()) {
  for (Component* const one : list) {
    (one->*what)();
  }
}

}  // namespace

Component::Counts grown(const Component::Counts& counts, const Component::Counts& before) {
  Component::Counts all;
  for (const auto& [kind, count] : counts) {
    const auto then = before.find(kind);
    if (const std::uint64_t since = then == before.end() ? 0 : then->second; count > since) {
      all.emplace(kind, count - since);
    }
  }
  return all;
}

Measurement::Measurement(const ComponentList& components)
    : components_(components),
      is_open_(components.devices(), false),
      is_closed_(components.devices(), false) {}

void Measurement::forget_errors() {
  for (const Component* one : components_.all()) {
    before_[one] = one->errors();
  }
}

void Measurement::begin(const ComponentList::Components& list, bool with_traffic) {
  for (Component* const one : list) {
    before_[one] = one->errors();
    with_traffic ? one->start_window_with_traffic() : one->start_window();
  }
}

void Measurement::open(std::size_t device, bool with_traffic) {
  if (is_open_[device]) {
    return;
  }
  if (!begin_) {
    begin_ = now();
    begin(components_.shared(), with_traffic);
  }
  is_open_[device] = true;
  begin(components_.of(device), with_traffic);
}

void Measurement::close(std::size_t device) {
  if (!is_closed_[device]) {
    is_closed_[device] = true;
    for_each(components_.of(device), &Component::end_window);
  }
}

void Measurement::close() {
  end_ = now();
  for (std::size_t device = 0; device < is_closed_.size(); ++device) {
    close(device);
  }
  for_each(components_.shared(), &Component::end_window);
}

void Measurement::extend() {
  end_.reset();
  is_closed_.assign(is_closed_.size(), false);
  for_each(components_.all(), &Component::extend_window);
}

void Measurement::fill(RunResult& result) const {
  result.simulated = end_.value_or(now()) - begin_.value_or(Time{});
  for (const Component* one : components_.all()) {
    one->report(result);
    boost::range::push_back(result.rows<WaitResult>(), one->waits());
    const auto before = before_.find(one);
    for (const auto& [kind, count] :
         grown(one->errors(), before == before_.end() ? Component::Counts() : before->second)) {
      result.errors[kind] += count;
    }
  }
}

}  // namespace flitwise
