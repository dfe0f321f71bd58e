// SPDX-License-Identifier: Apache-2.0
// Records of page requests and the policy of their queue.
#include "iommu/page_request_queue.h"

#include "common/page.h"
#include "iommu/entries.h"
#include "iommu/word_bits.h"

namespace flitwise {

namespace {

constexpr std::uint64_t kRecordType = 1;
constexpr unsigned kPasidPresent = 8, kSource = 16, kPasid = 32, kExecute = 52, kPrivileged = 53;
constexpr unsigned kRead = 0, kWrite = 1, kLast = 2, kGroup = 3;

}  // namespace

PageRequestRecord encode_page_request(const QueuedPageRequest& request) {
  const std::uint64_t pasid =
      request.pasid.has_value() ? std::uint64_t{to_int(*request.pasid)} << kPasid : 0;
  PageRequestRecord record{};
  store_u64(record.data(), kRecordType | bit_if(request.pasid.has_value(), kPasidPresent) |
                               std::uint64_t{request.source.value} << kSource | pasid |
                               bit_if(request.execute, kExecute) |
                               bit_if(request.privileged, kPrivileged));
  store_u64(record.data() + 8, bit_if(request.read, kRead) | bit_if(request.write, kWrite) |
                                   bit_if(request.is_last, kLast) |
                                   (request.group & std::uint64_t{0x1ff}) << kGroup |
                                   (request.address & kPageAddress));
  return record;
}

std::optional<QueuedPageRequest> decode_page_request(const std::uint8_t* record) {
  const std::uint64_t low = load_u64(record);
  const std::uint64_t high = load_u64(record + 8);
  if ((low & 0xffU) != kRecordType) {
    return std::nullopt;
  }
  QueuedPageRequest request;
  request.source = Bdf{static_cast<std::uint16_t>(low >> kSource)};
  if (is_set(low, kPasidPresent)) {
    request.pasid = Pasid{static_cast<std::uint32_t>(low >> kPasid & 0xf'ffffU)};
  }
  request.execute = is_set(low, kExecute);
  request.privileged = is_set(low, kPrivileged);
  request.read = is_set(high, kRead);
  request.write = is_set(high, kWrite);
  request.is_last = is_set(high, kLast);
  request.group = static_cast<std::uint16_t>(high >> kGroup & 0x1ffU);
  request.address = high & kPageAddress;
  return request;
}

/// A group is answered by its last request alone, and a Stop Marker never.
PageRequestAction PageRequestQueue::refuse(const QueuedPageRequest& request) {
  ++dropped_;
  const bool is_answered = request.is_last && !request.is_stop_marker();
  return is_answered && overflow_ == PageRequestOverflow::kRespondSuccess
             ? PageRequestAction::kRespondSuccess
             : PageRequestAction::kDrop;
}

PageRequestQueue::Admission PageRequestQueue::admit(const QueuedPageRequest& request,
                                                    bool is_enabled, IommuRegisters& registers) {
  Admission admission;
  const bool is_answered = request.is_last && !request.is_stop_marker();
  if (!is_enabled) {
    admission.action = is_answered ? PageRequestAction::kRespondFailure : PageRequestAction::kDrop;
    return admission;
  }
  if (!request.read && !request.write && !request.is_stop_marker()) {
    admission.action =
        request.is_last ? PageRequestAction::kRespondInvalid : PageRequestAction::kDrop;
    return admission;
  }
  const auto status = static_cast<std::uint32_t>(registers.read(iommu_register::kPrs, 4));
  if ((status & page_request_status::kOverflow) != 0) {
    admission.action = refuse(request);
    return admission;
  }
  const QueueView queue = registers.page_request_queue();
  const std::uint32_t slot = (queue.tail + in_flight_ * queue.entry_bytes) % queue.bytes;
  if (queue.after(slot) == queue.head) {
    admission.interrupt = registers.raise_page_request(page_request_status::kOverflow);
    admission.action = refuse(request);
    return admission;
  }
  ++in_flight_;
  admission.action = PageRequestAction::kRecord;
  admission.address = queue.base + slot;
  return admission;
}

std::optional<IommuInterrupt> PageRequestQueue::written(IommuRegisters& registers) {
  --in_flight_;
  const QueueView queue = registers.page_request_queue();
  registers.set_page_request_tail(queue.after(queue.tail));
  return registers.raise_page_request(page_request_status::kPending);
}

PageRequestAction PageRequestQueue::write_failed(const QueuedPageRequest& request,
                                                 IommuRegisters& registers) {
  // The slot is spent all the same, so that those behind it keep theirs.
  --in_flight_;
  const QueueView queue = registers.page_request_queue();
  registers.set_page_request_tail(queue.after(queue.tail));
  const bool is_answered = request.is_last && !request.is_stop_marker();
  return is_answered ? PageRequestAction::kRespondFailure : PageRequestAction::kDrop;
}

bool PageRequestQueue::is_drained(const IommuRegisters& registers) const {
  const QueueView queue = registers.page_request_queue();
  return in_flight_ == 0 && queue.head == queue.tail;
}

}  // namespace flitwise
