// SPDX-License-Identifier: Apache-2.0
/// What a device and the firmware on it that translates static structures ahead of use say to each
/// other. Rules: src/hca/pretranslation.h.
#pragma once

#include <cstdint>

#include "ats/translation_cache.h"
#include "flitwise/ids.h"
#include "flitwise/time.h"
#include "hca/structure_registers.h"

namespace flitwise {

/// Some bytes of a static structure of a function.
struct StructureBytes {
  unsigned function = 0;
  StaticStructure structure = StaticStructure::kQpStateArray;
  std::uint64_t address = 0;  ///< of the guest
  std::uint64_t bytes = 0;
};

/// Static structures whose addresses firmware translates ahead of use. Implemented by Eps.
class StaticTranslations {
 public:
  /// How a TLP for these bytes goes now; what does not go is counted.
  virtual StructureAccess access(const StructureBytes& bytes) = 0;
  /// It goes out just so. token: of its transfer. REQUIRES: access() says kGo.
  virtual void begin(const StructureBytes& bytes, std::uint32_t token) = 0;
  /// One that went out translated is done.
  virtual void end(unsigned function, StaticStructure structure) = 0;
  /// To a request; null: nothing that can be used. [EP-4] [EP-6]
  virtual void answered(std::uint32_t request, const TranslationEntry* translation, Time now) = 0;
  /// The function has taken an Invalidate Request. [EP-7]
  virtual void invalidated(unsigned function, unsigned itag, const PageRange& range,
                           const InvalidationScope& scope, Time now) = 0;
  /// May the function ask for translations? It may not after a reset. [EP-13]
  virtual void enabled(unsigned function, bool is_enabled, Time now) = 0;

 protected:
  ~StaticTranslations() = default;
};

/// What that firmware asks of its function: the address translation interface. Implemented by
/// TranslatedPath.
class TranslationInterface {
 public:
  /// A Translation Request to read and write at an address, in the name of a domain; false: its
  /// function may send none now, or has no tag. [EP-3]
  virtual bool ask(DomainId domain, std::uint64_t address, std::uint32_t request, bool counts,
                   Time now) = 0;
  /// Accesses that had found no address are tried again.
  virtual void try_again(Time when) = 0;
  /// Of accesses and requests of the domain, where they name one.
  virtual OptionalId<Pasid> pasid_of(DomainId domain) const = 0;

 protected:
  ~TranslationInterface() = default;
};

}  // namespace flitwise
