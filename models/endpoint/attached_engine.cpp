// SPDX-License-Identifier: Apache-2.0
#include "endpoint/attached_engine.h"

#include <algorithm>
#include <utility>

namespace flitwise {
namespace {

Op op_of(EngineRequest::Kind kind) {
  switch (kind) {
    case EngineRequest::Kind::kRead: return Op::kRead;
    case EngineRequest::Kind::kInterrupt: return Op::kMsi;
    case EngineRequest::Kind::kWrite: break;
  }
  return Op::kWrite;
}

EngineStatus status_of(TransferStatus status) {
  switch (status) {
    case TransferStatus::kUnsupportedRequest: return EngineStatus::kUnsupportedRequest;
    case TransferStatus::kCompleterAbort: return EngineStatus::kCompleterAbort;
    case TransferStatus::kTimeout: return EngineStatus::kTimeout;
    case TransferStatus::kPoisoned: return EngineStatus::kPoisoned;
    case TransferStatus::kContextEnded: return EngineStatus::kContextEnded;
    case TransferStatus::kDone: break;
  }
  return EngineStatus::kDone;
}

}  // namespace

AttachedEngine::AttachedEngine(const std::string& device, DeviceEngine& engine, Endpoint& endpoint,
                               std::uint64_t warmup, Routes routes, Hooks hooks)
    : Bystander(device + " engine"),
      engine_(engine),
      endpoint_(endpoint),
      warmup_(warmup),
      routes_(std::move(routes)),
      hooks_(std::move(hooks)) {}

void AttachedEngine::start(Time /*now*/) {
  endpoint_.attach(*this);
}

bool AttachedEngine::next(Time now, Transfer& transfer) {
  EngineRequest request;
  if (!engine_.next(now, request)) {
    look_for_end();
    return false;
  }
  if (++given_ == warmup_ + 1) {
    hooks_.counting_starts();
  }
  transfer.op = op_of(request.kind);
  ++issued_[static_cast<std::size_t>(transfer.op)];
  transfer.domain = request.domain;
  transfer.address = request.address;
  transfer.bytes = request.bytes;
  transfer.token = request.token;
  transfer.data = request.data;
  transfer.issue = transfer.ready = now;
  transfer.counts = given_ > warmup_;
  return true;
}

void AttachedEngine::start_window() {
  issued_ = {};
  window_begin_ = now();
  window_end_ = Time::never();
}

void AttachedEngine::report(RunResult& result) const {
  for (const DmaEngine::Route& one : routes_) {
    RequestRoute& route = result.routes.emplace_back(one.route);
    route.requests = issued_[static_cast<std::size_t>(one.op)];
    route.begin = window_begin_;
    route.end = std::min(window_end_, now());
  }
}

void AttachedEngine::finished(const TransferEnd& end) {
  engine_.finished({end.token, status_of(end.status), end.when});
  look_for_end();
}

void AttachedEngine::look_for_end() {
  if (!has_told_end_ && engine_.is_done()) {
    has_told_end_ = true;
    hooks_.work_ended();
  }
}

std::string AttachedEngine::waiting() const {
  const std::string what = engine_.waits_for();
  return what.empty() || engine_.is_done() ? "" : name() + (": " + what) + "\n";
}

}  // namespace flitwise
