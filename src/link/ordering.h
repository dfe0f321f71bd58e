// SPDX-License-Identifier: Apache-2.0
/// Which TLP may overtake which, as one table of data: the ordering rules of a port's queues.
/// [LNK-9.1] to [LNK-9.7]
#pragma once

#include <array>
#include <cstdint>

#include "flitwise/tlp.h"
#include "tlp/identity.h"

namespace flitwise {

/// May a later TLP pass an earlier one? kMust: it has to be able to, or the fabric can deadlock.
enum class Passing : std::uint8_t { kNo, kMay, kMust };

/// Row and column of the ordering table.
enum class OrderingClass : std::uint8_t {
  kPosted,
  kNonPostedRead,
  kNonPostedWithData,
  kCompletion,
};
inline constexpr int kOrderingClasses = 4;

/// One cell: the answer without attributes, and what turns a kNo into kMay.
struct OrderingCell {
  Passing plain;
  bool relaxed_ordering = false;      ///< RO of the later TLP
  bool id_based_ordering = false;     ///< IDO of the later TLP, and the identities differ
  bool io_or_cfg_write = false;       ///< the later TLP completes an I/O or configuration write
  bool other_transaction_id = false;  ///< two completions with different transaction IDs
};

/// Rows: the later TLP. Columns: the earlier one. [LNK-9.1]..[LNK-9.7]
inline constexpr std::array<std::array<OrderingCell, kOrderingClasses>, kOrderingClasses>
    kOrderingTable = {{
        {{{Passing::kNo, true, true}, {Passing::kMust}, {Passing::kMust}, {Passing::kMay}}},
        {{{Passing::kNo, false, true}, {Passing::kMay}, {Passing::kMay}, {Passing::kMay}}},
        {{{Passing::kNo, true, true}, {Passing::kMay}, {Passing::kMay}, {Passing::kMay}}},
        {{{Passing::kNo, true, true, true},
          {Passing::kMust},
          {Passing::kMust},
          {Passing::kNo, false, false, false, true}}},
    }};

constexpr OrderingClass ordering_class(TlpType type) {
  const FcClass fc = fc_class(type);
  return fc == FcClass::kPosted       ? OrderingClass::kPosted
         : fc == FcClass::kCompletion ? OrderingClass::kCompletion
         : has_data(type)             ? OrderingClass::kNonPostedWithData
                                      : OrderingClass::kNonPostedRead;
}

/// May it pass every posted request, whoever sent that?
constexpr bool passes_all_posted(const Tlp& later, bool completes_io_or_cfg_write = false) {
  const OrderingCell& cell = kOrderingTable[static_cast<std::size_t>(ordering_class(later.type))]
                                           [static_cast<std::size_t>(OrderingClass::kPosted)];
  return (cell.relaxed_ordering && later.relaxed_ordering) ||
         (cell.io_or_cfg_write && completes_io_or_cfg_write);
}

/// True where IDO may tell the two apart: another Requester ID (of a completion: Completer ID), or
/// two PASIDs that differ; a PASID beside none proves nothing. Two TLPs whose ID field holds a
/// handle differ when the handles do; a handle beside a full ID proves nothing. [LNK-9.1] [LNK-9.6]
/// [LNK-1.7]
constexpr bool identities_differ(const Tlp& later, const Tlp& earlier) {
  if (later.id_is_handle || earlier.id_is_handle) {
    return later.id_is_handle && earlier.id_is_handle && later.requester_id != earlier.requester_id;
  }
  if (ordering_class(later.type) == OrderingClass::kCompletion) {
    return later.completer_id != earlier.requester_id;
  }
  return later.requester_id != earlier.requester_id ||
         (later.has_pasid && earlier.has_pasid && later.pasid != earlier.pasid);
}

/// The same for any form of identity: handles are compared where both have one, wherever the form
/// keeps them.
inline bool identities_differ(const Tlp& later, const Tlp& earlier, const IdentityForm& form) {
  if (!later.id_is_handle && !earlier.id_is_handle) {
    return identities_differ(later, earlier);
  }
  const WireIdentity one = identity_of(later, form);
  const WireIdentity other = identity_of(earlier, form);
  return one.handle && other.handle && *one.handle != *other.handle;
}

/// May (must) `later` pass `earlier` in the same direction, if `differ()` tells whether IDO may
/// take them apart? A Cpl does not say what it completes: its sender passes
/// `completes_io_or_cfg_write` where it knows; false is always safe. Between traffic classes no
/// order is promised. [DHI D8]
template <class Differ>
constexpr Passing passing_if(const Tlp& later, const Tlp& earlier, bool completes_io_or_cfg_write,
                             Differ differ) {
  const OrderingCell& cell = kOrderingTable[static_cast<std::size_t>(ordering_class(later.type))]
                                           [static_cast<std::size_t>(ordering_class(earlier.type))];
  if (cell.plain != Passing::kNo) {
    return cell.plain;
  }
  const bool allowed = later.tc != earlier.tc ||
                       (cell.relaxed_ordering && later.relaxed_ordering) ||
                       (cell.io_or_cfg_write && completes_io_or_cfg_write) ||
                       (cell.other_transaction_id &&
                        (later.requester_id != earlier.requester_id || later.tag != earlier.tag)) ||
                       (cell.id_based_ordering && later.id_based_ordering && differ());
  return allowed ? Passing::kMay : Passing::kNo;
}

/// For links whose handles, if any, stand in the Requester ID.
constexpr Passing passing(const Tlp& later, const Tlp& earlier,
                          bool completes_io_or_cfg_write = false) {
  return passing_if(later, earlier, completes_io_or_cfg_write,
                    [&] { return identities_differ(later, earlier); });
}

/// For a link with any form of identity.
inline Passing passing(const Tlp& later, const Tlp& earlier, const IdentityForm& form,
                       bool completes_io_or_cfg_write = false) {
  return passing_if(later, earlier, completes_io_or_cfg_write,
                    [&] { return identities_differ(later, earlier, form); });
}

}  // namespace flitwise
