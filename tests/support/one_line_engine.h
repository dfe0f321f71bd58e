// SPDX-License-Identifier: Apache-2.0
/// An engine with one transfer.
#pragma once

#include <string>

#include "endpoint/engine.h"

namespace flitwise::test {

class OneLineEngine final : public Engine {
 public:
  struct Wish {
    Op op = Op::kRead;
    std::uint64_t address = 0;
    std::uint32_t bytes = 64;
    DomainId domain{};
  };
  explicit OneLineEngine(const Wish& wish) : wish_(wish) {}

  bool next(Time now, Transfer& transfer) override {
    if (is_given_) {
      return false;
    }
    is_given_ = true;
    transfer = Transfer{};
    transfer.op = wish_.op;
    transfer.address = wish_.address;
    transfer.bytes = wish_.bytes;
    transfer.domain = wish_.domain;
    transfer.issue = now;
    return true;
  }
  void finished(const TransferEnd& end) override {
    is_done_ = true;
    status_ = end.status;
  }
  Time next_at() const override { return Time::never(); }
  bool is_done() const override { return is_done_; }
  std::string waits_for() const override { return {}; }
  TransferStatus status() const { return status_; }

 private:
  const Wish wish_;
  bool is_given_ = false, is_done_ = false;
  TransferStatus status_ = TransferStatus::kDone;
};

}  // namespace flitwise::test
