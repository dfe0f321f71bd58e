// SPDX-License-Identifier: Apache-2.0
/// A second walker, written apart from the first: plain recursion over memory that answers at once,
/// with numbers instead of names. The random tests compare the two.
#pragma once

#include <cstdint>

#include "unit/iommu/table_memory.h"

namespace flitwise::test {

class ReferenceWalker {
 public:
  struct Answer {
    enum class What { kOk, kInterrupt, kFault } what = What::kFault;
    unsigned code = 0;  ///< fault reason, or why an answer grants nothing
    bool recorded = false;
    char status = 'S';  ///< of a Translation Request: S, U, C
    std::uint64_t pa = 0;
    unsigned bits = 12;
    bool r = false, w = false, x = false, snoop = false, unclean = false;
    unsigned reads = 0, updates = 0;
  };

  ReferenceWalker(TableMemory& memory, const IommuCapabilities& c) : m_(memory), c_(c) {}

  Answer walk(const WalkRequest& q, const RootTable& root) {
    q_ = q;
    answer_ = {};
    fpd_ = false;
    try {
      from_root(root);
    } catch (const Stop& stop) {
      conclude(stop);
    }
    return answer_;
  }

 private:
  struct Stop {
    unsigned code;
    unsigned hole = 12;
  };
  struct Leaf {
    std::uint64_t pa = 0;
    unsigned bits = 12;
    bool r = true, w = true, snoop = false, unclean = false;
    std::uint64_t at = 0;
  };

  static bool bit(std::uint64_t v, unsigned n) { return (v >> n) % 2 == 1; }
  static std::uint64_t part(std::uint64_t v, unsigned high, unsigned low) {
    return (v << (63 - high)) >> (63 - high + low);
  }
  static std::uint64_t two(unsigned n) { return std::uint64_t{1} << n; }
  bool ats() const { return q_.kind == WalkKind::kTranslationRequest; }
  bool above_host(std::uint64_t v) const {
    return c_.host_address_bits < 64 && (v >> c_.host_address_bits) != 0;
  }

  void conclude(const Stop& stop) {
    answer_.code = stop.code;
    answer_.what = Answer::What::kFault;
    answer_.r = answer_.w = answer_.x = false;
    const unsigned c = stop.code;
    const bool unqualified = (c >= 0x30 && c <= 0x40) || c == 0x42 || c == 0x50 || c == 0x58;
    answer_.recorded = unqualified || !fpd_;
    if (!ats()) {
      return;
    }
    const bool ur =
        c <= 0x32 || c == 0x39 || c == 0x3a || (c >= 0x41 && c <= 0x48) || c == 0x5c || c == 0x5d;
    const bool ca = c == 0x38 || c == 0x40 || c == 0x50 || c == 0x52 || c == 0x58 || c == 0x5a ||
                    c == 0x5b || c == 0x70 || c == 0x73 || c == 0x78 || c == 0x7b || c == 0x91;
    answer_.status = ur ? 'U' : ca ? 'C' : 'S';
    if (answer_.status == 'S') {
      answer_.what = Answer::What::kOk;
      answer_.bits = stop.hole;
      answer_.recorded = answer_.recorded && c == 0x87;
    }
  }

  std::uint64_t fetch(std::uint64_t address, unsigned error) {
    ++answer_.reads;
    if (m_.is_broken(address)) {
      throw Stop{error};
    }
    return m_.read(address);
  }
  void set(std::uint64_t address, std::uint64_t flags, unsigned error) {
    if (m_.is_broken(address)) {
      throw Stop{error};
    }
    ++answer_.updates;
    m_.write(address, m_.read(address) | flags);
  }

  void from_root(const RootTable& root) {
    const bool in_window = q_.address >= 0xfee00000 && q_.address <= 0xfeefffff;
    const bool plain = q_.kind == WalkKind::kUntranslated && !q_.pasid.has_value();
    if (in_window && plain && q_.wish.write && !q_.wish.read) {
      answer_.what = Answer::What::kInterrupt;
      return;
    }
    in_window_ = in_window && (plain || ats());
    const std::uint64_t at = root.address + 16 * part(q_.source.value, 15, 8);
    const std::uint64_t low = fetch(at, 0x38);
    const std::uint64_t high = m_.read(at + 8);
    const std::uint64_t mine = bit(q_.source.value, 7) ? high : low;
    if (!bit(mine, 0)) {
      throw Stop{0x39};
    }
    for (const std::uint64_t half : {low, high}) {
      if (bit(half, 0) && (part(half, 11, 1) != 0 || above_host(half))) {
        throw Stop{0x3a};
      }
    }
    from_context(part(mine, 63, 12) * 4096 + 32 * part(q_.source.value, 6, 0));
  }

  void from_context(std::uint64_t at) {
    const std::uint64_t a = fetch(at, 0x40);
    const std::uint64_t b = m_.read(at + 8);
    fpd_ = bit(a, 1);
    if (!bit(a, 0)) {
      throw Stop{0x41};
    }
    if (part(a, 8, 5) != 0 || part(b, 63, 21) != 0 || above_host(a)) {
      throw Stop{0x42};
    }
    if (q_.kind != WalkKind::kUntranslated && !bit(a, 2)) {
      throw Stop{0x44};
    }
    if (q_.kind == WalkKind::kPageRequest && !bit(a, 4)) {
      throw Stop{0x47};
    }
    const bool has_pasid = q_.pasid.has_value();
    const std::uint64_t limit = two(static_cast<unsigned>(part(a, 11, 9)) + 13);
    if (has_pasid && (!bit(a, 3) || c_.pasid_bits == 0)) {
      throw Stop{0x45};
    }
    if (has_pasid && (to_int(*q_.pasid) >= limit || to_int(*q_.pasid) >= two(c_.pasid_bits))) {
      throw Stop{0x46};
    }
    if (in_window_) {
      throw Stop{0x87};
    }
    if ((q_.kind == WalkKind::kTranslated && !c_.secure_ats) || q_.kind == WalkKind::kPageRequest) {
      answer_.what = Answer::What::kOk;
      answer_.pa = q_.address;
      return;
    }
    const std::uint64_t rid_pasid = c_.rid_pasid ? part(b, 19, 0) : 0;
    if (!has_pasid && rid_pasid >= limit) {
      throw Stop{0x48};
    }
    const std::uint64_t pasid = has_pasid ? to_int(*q_.pasid) : rid_pasid;
    super_ = has_pasid ? q_.wish.privileged : bit(b, 20);
    exec_ = has_pasid && q_.wish.execute;
    const std::uint64_t pde = fetch((a & ~0xfffULL) + pasid / 64 * 8, 0x50);
    fpd_ = fpd_ || bit(pde, 1);
    if (!bit(pde, 0)) {
      throw Stop{0x51};
    }
    if (part(pde, 11, 2) != 0 || above_host(pde)) {
      throw Stop{0x52};
    }
    from_pasid_entry((pde & ~0xfffULL) + pasid % 64 * 64);
  }

  void from_pasid_entry(std::uint64_t at) {
    e0_ = fetch(at, 0x58);
    e1_ = m_.read(at + 8);
    e2_ = m_.read(at + 16);
    fpd_ = fpd_ || bit(e0_, 1);
    if (!bit(e0_, 0)) {
      throw Stop{0x59};
    }
    const std::uint64_t pointer = m_.read(at + 24);
    const bool is_bad = part(pointer, 11, 2) != 0 || above_host(pointer);
    if (part(e0_, 11, 10) != 0 || (c_.secure_ats && bit(pointer, 0) && is_bad)) {
      throw Stop{0x5a};
    }
    const unsigned type = static_cast<unsigned>(part(e0_, 8, 6));
    const unsigned aw = static_cast<unsigned>(part(e0_, 4, 2));
    const unsigned mode = static_cast<unsigned>(part(e2_, 3, 2));
    const bool aw_ok = aw == 1 || aw == 2 || (aw == 3 && c_.second_stage_5_level);
    const bool mode_ok = mode == 0 || (mode == 1 && c_.first_stage_5_level);
    const bool first = type == 1 || type == 3;
    const bool ok = (type == 1 && mode_ok) || (type == 2 && aw_ok) ||
                    (type == 3 && c_.nested && mode_ok && aw_ok) ||
                    (type == 4 && aw >= 1 && aw <= 3);
    if (!ok) {
      throw Stop{0x5b};
    }
    if (q_.kind == WalkKind::kTranslated) {
      permission(m_.read(at + 24));
      return;
    }
    if (first && exec_ && !bit(e2_, 1)) {
      throw Stop{0x5c};
    }
    if (first && super_ && !bit(e2_, 0)) {
      throw Stop{0x5d};
    }
    width_ = aw == 1 ? 39 : aw == 2 ? 48 : 57;
    width_ = width_ < 48 || c_.second_stage_5_level ? width_ : 48;
    ssade_ = bit(e0_, 9);
    type_ = type;
    by_type(aw, mode);
  }

  void permission(std::uint64_t pointer) {
    if (bit(pointer, 0) && bit(pointer, 1) != q_.is_trusted) {
      throw Stop{0xf1};
    }
    if (!bit(pointer, 0) || above_host(q_.address)) {
      throw Stop{0xf0};
    }
    std::uint64_t table = part(pointer, 63, 12) * 4096;
    unsigned low = c_.host_address_bits > 44 ? 44 : 35;  // of the index, 9 bits wide
    for (; low > 17; low -= 9) {
      const std::uint64_t word = fetch(table + part(q_.address, low + 8, low) * 8, 0xf3);
      if (!bit(word, 0)) {
        throw Stop{0xf0};
      }
      const bool is_large = bit(word, 7);
      if (part(word, 6, 3) != 0 || part(word, 11, 8) != 0 ||
          (is_large ? part(word, 63, 12) != 0 : part(word, 2, 1) != 0 || above_host(word))) {
        throw Stop{0xf2};
      }
      if (is_large) {
        grant(bit(word, 1), bit(word, 2));
        return;
      }
      table = part(word, 63, 12) * 4096;
    }
    const std::uint64_t word = fetch(table + part(q_.address, 25, 17) * 8, 0xf3);
    const unsigned page = static_cast<unsigned>(part(q_.address, 16, 12));
    grant(bit(word, 2 * page), bit(word, 2 * page + 1));
  }

  void grant(bool r, bool w) {
    const bool may_read = r || (w && q_.wish.zero_length);
    if ((q_.wish.read && !may_read) || (q_.wish.write && !w)) {
      throw Stop{0xf0};
    }
    answer_.what = Answer::What::kOk;
    answer_.pa = q_.address;
    answer_.r = r;
    answer_.w = w;
  }

  void by_type(unsigned aw, unsigned mode) {
    Leaf leaf;
    if (type_ == 4) {
      if (q_.address >= two(width_)) {
        throw Stop{0x83};
      }
      leaf.pa = q_.address;
    } else if (type_ == 2) {
      leaf = second(q_.address, aw + 2, 0x83, true, q_.wish.write, 64);
    } else {
      const unsigned levels = mode + 4;
      const unsigned top = levels == 4 ? 47 : 56;
      const std::int64_t high = static_cast<std::int64_t>(q_.address) >> top;
      if (high != 0 && high != -1) {
        throw Stop{0x80};
      }
      user_ = writable_ = executable_ = true;
      leaf = first(e2_ & ~0xfffULL, levels, levels, aw + 2);
    }
    deliver(leaf);
  }

  bool first_write() const { return writable_ || (super_ && !bit(e2_, 4)); }

  void deliver(const Leaf& leaf) {
    const bool staged = type_ == 1 || type_ == 3;
    const bool w = leaf.w && (!staged || first_write());
    if (leaf.pa >= 0xfee00000 && leaf.pa <= 0xfeefffff) {
      throw Stop{0x87, leaf.bits};
    }
    if (ats() && !leaf.r && !(w && q_.wish.write)) {
      throw Stop{0x79, leaf.bits};
    }
    answer_.what = Answer::What::kOk;
    answer_.code = 0;
    answer_.pa = leaf.pa;
    answer_.bits = leaf.bits;
    answer_.r = leaf.r;
    answer_.w = w && (!ats() || q_.wish.write);
    answer_.x = leaf.r && (!staged || executable_) && (!ats() || exec_);
    answer_.unclean = leaf.unclean;
    answer_.snoop = bit(e1_, 24) || (leaf.snoop && type_ != 1 && type_ != 4);
  }

  Leaf first(std::uint64_t table, unsigned level, unsigned levels, unsigned second_levels) {
    const unsigned shift = 12 + 9 * (level - 1);
    std::uint64_t at = table + 8 * part(q_.address, shift + 8, shift);
    Leaf home;
    if (type_ == 3) {
      home = second(at, second_levels, 0x74, false, false, 12);
      at = home.pa;
    } else if (above_host(at)) {
      throw Stop{0x73};
    }
    const std::uint64_t e = fetch(at, level == levels ? 0x73 : 0x70);
    check_first(e, level, shift);
    const bool leaf = level == 1 || bit(e, 7);
    std::uint64_t flags = 0x20;
    if (leaf && q_.wish.write && first_write()) {
      flags |= 0x40;
    }
    if (type_ == 3 && !home.w && ats() && (~e & flags) == 0x40) {
      q_.wish.write = false;
      flags &= ~std::uint64_t{0x40};
    }
    if ((e & flags) != flags) {
      if (type_ == 3 && !home.w) {
        throw Stop{0x79};
      }
      if (type_ == 3 && home.unclean) {
        set(home.at, 0x200, 0x78);
      }
      set(at, flags, 0x91);
    }
    if (!leaf) {
      return first(part(e, 51, 12) << 12, level - 1, levels, second_levels);
    }
    const bool unclean = ((e | flags) & 0x40) == 0;
    const std::uint64_t out = (part(e, 51, shift) << shift) + q_.address % two(shift);
    if (type_ == 1) {
      Leaf result;
      result.pa = out;
      result.bits = shift;
      result.unclean = unclean;
      return result;
    }
    Leaf result = second(out, second_levels, 0x84, true, q_.wish.write && first_write(), shift);
    result.bits = result.bits < shift ? result.bits : shift;
    result.unclean = result.unclean || unclean;
    return result;
  }

  void check_first(std::uint64_t e, unsigned level, unsigned shift) {
    if (!bit(e, 0)) {
      throw Stop{0x71, shift};
    }
    writable_ = writable_ && bit(e, 1);
    user_ = user_ && bit(e, 2);
    executable_ = executable_ && !bit(e, 63);
    if (!user_ && !super_) {
      throw Stop{0x81, shift};
    }
    if (!ats() && q_.wish.write && !first_write()) {
      throw Stop{0x85U, shift};
    }
    if (!ats() && exec_ && !executable_) {
      throw Stop{0x82, shift};
    }
    bool bad = above_host(part(e, 51, 0));
    if (level > 1 && bit(e, 7)) {
      bad = bad || level > 3 || part(e, shift - 1, 13) != 0;
    }
    if (bad) {
      throw Stop{0x72, shift};
    }
  }

  /// for_request: what the request wants must be granted; else a read of a table.
  Leaf second(std::uint64_t in, unsigned levels, unsigned too_high, bool for_request, bool dirties,
              unsigned hole_limit) {
    if (in >= two(width_)) {
      throw Stop{too_high};
    }
    if (above_host(e0_)) {
      throw Stop{0x7b};
    }
    top_second_ = levels;
    return second_level(in, e0_ & ~0xfffULL, levels, Leaf{}, for_request, dirties, hole_limit);
  }

  Leaf second_level(std::uint64_t in, std::uint64_t table, unsigned level, Leaf so_far,
                    bool for_request, bool dirties, unsigned hole_limit) {
    const unsigned shift = 12 + 9 * (level - 1);
    const unsigned hole = shift < hole_limit ? shift : hole_limit;
    const std::uint64_t at = table + 8 * part(in, shift + 8, shift);
    const std::uint64_t e = fetch(at, level == top_second_ ? 0x7b : 0x78);
    so_far.r = so_far.r && bit(e, 0);
    so_far.w = so_far.w && bit(e, 1);
    check_second(e, level, shift, hole, so_far, for_request);
    const bool leaf = level == 1 || bit(e, 7);
    std::uint64_t flags = ssade_ ? 0x100 : 0;
    if (ssade_ && leaf && dirties && so_far.w) {
      flags |= 0x200;
    }
    if ((e & flags) != flags) {
      set(at, flags & ~e, 0x78);
    }
    if (!leaf) {
      return second_level(in, part(e, 51, 12) << 12, level - 1, so_far, for_request, dirties,
                          hole_limit);
    }
    so_far.pa = (part(e, 51, shift) << shift) + in % two(shift);
    so_far.bits = shift;
    so_far.snoop = bit(e, 11);
    so_far.unclean = ssade_ && ((e | flags) & 0x200) == 0;
    so_far.at = at;
    return so_far;
  }

  void check_second(std::uint64_t e, unsigned level, unsigned shift, unsigned hole,
                    const Leaf& so_far, bool for_request) {
    bool denied = !so_far.r;
    if (for_request && ats()) {
      denied = !so_far.r && !so_far.w;
    } else if (for_request) {
      const bool zero_ok = q_.wish.zero_length && so_far.w;
      denied = (q_.wish.read && !so_far.r && !zero_ok) || (q_.wish.write && !so_far.w);
    }
    if (denied) {
      throw Stop{0x79, hole};
    }
    bool bad = above_host(part(e, 51, 0));
    if (level != 1 && bit(e, 7)) {
      bad = bad || level > 3 || part(e, shift - 1, 12) != 0;
    } else if (level != 1) {
      bad = bad || bit(e, 11) || bit(e, 62);
    }
    if (bad) {
      throw Stop{0x7a, hole};
    }
  }

  TableMemory& m_;
  const IommuCapabilities& c_;
  WalkRequest q_;
  Answer answer_;
  bool in_window_ = false, fpd_ = false, super_ = false, exec_ = false, ssade_ = false;
  bool user_ = true, writable_ = true, executable_ = true;
  unsigned type_ = 0, width_ = 48, top_second_ = 0;
  std::uint64_t e0_ = 0, e1_ = 0, e2_ = 0;
};

}  // namespace flitwise::test
