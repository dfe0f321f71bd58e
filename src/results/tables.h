// SPDX-License-Identifier: Apache-2.0
/// A list of results, described once: what names a row, each figure with unit, meaning and source.
/// result.json, result.sqlite, the columns of sweeps, `flitwise list statistics` and the summary
/// are made from the description. docs/statistics.md, "Add a statistic", shows how to use it.
#pragma once

#include <nlohmann/json.hpp>

#include <any>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <type_traits>
#include <typeindex>
#include <utility>
#include <vector>

#include "common/ranges.h"
#include "flitwise/result.h"
#include "results/text_table.h"

namespace flitwise {

using CountsByKind = std::map<std::string, std::uint64_t>;
/// Of one figure in one row. Null: there is none, as a rate of a link that sent nothing.
using FigureValue = nlohmann::ordered_json;

template <class Value>
FigureValue figure_value(const Value& value) {
  return value;
}
inline FigureValue figure_value(Time time) {
  return time.ns();
}
template <class Value>
FigureValue figure_value(const std::optional<Value>& value) {
  return value ? figure_value(*value) : FigureValue();
}

// From a result.json.
template <class Value>
void read_figure(const FigureValue& from, Value& to) {
  to = from.get<Value>();
}
template <class Value>
void read_figure(const FigureValue& from, std::optional<Value>& to) {
  to = from.get<Value>();
}
/// Unit: ns. Throws Json::exception unless it is a number, std::out_of_range if no Time has room.
void read_figure(const FigureValue& from, Time& to);

enum class FigureType {
  kCount,
  kReal,
  kRealOrNone,
  kText,
  kByKind  ///< counts by kind, rows of an SQLite table of their own
};

struct FigureInfo {
  std::string key;   ///< its place in the row's object of result.json; a dot makes an object
  std::string unit;  ///< empty: a plain count, or a text
  std::string definition;
  FigureType type;
  std::string kind_table = {};  ///< SQLite table of counts by kind; they are no column
  /// Of its SQLite column: the key with underscores for the dots.
  std::string column() const;
};

/// What names a row.
struct NameInfo {
  std::string key;         ///< in result.json
  std::string column;      ///< in SQLite
  bool is_number = false;  ///< in result.json; a text everywhere else
};

/// How the one flat row of a sweep's point takes the rows of a table.
enum class FlatRows {
  kNone,      ///< not at all
  kEach,      ///< PREFIX_FIGURE of the first row, NAME_PREFIX_FIGURE of the others
  kNamed,     ///< PREFIX_NAME_FIGURE of each; with all its names
  kSum,       ///< PREFIX_FIGURE: all rows added up
  kSumByName  ///< PREFIX_NAME_FIGURE: all rows of one name (flat_by) added up
};

struct TableInfo {
  std::string list;       ///< its array in result.json: "iommu"; "network.ports": in an object
  std::string sql_table;  ///< "iommu"
  std::string sentence;   ///< what a row stands for: "One row per translation agent."
  std::vector<NameInfo> names;
  std::vector<FigureInfo> figures;
  /// Values of the second name, where that makes objects inside the row of the first ("up|down").
  std::string nested;
  /// Rows that have all names but the last one in common are one object of result.json, with a list
  /// of this name inside ("sessions"); empty: each row is an object.
  std::string inner;
  FlatRows flat = FlatRows::kEach;
  std::string flat_prefix;
  std::string flat_by;  ///< key of the name that columns carry; empty: the last one
  std::vector<std::string> flat_figures;  ///< keys; empty: all that are numbers
  bool has_flat_units = false;            ///< the unit stands behind the figure's name
};

/// The rows of a list of result.json, an object each, with all their names as texts.
FigureValue ungrouped(const TableInfo& table, const FigureValue& list);

/// A table without the type of its rows: what writers and lists work with. `rows` holds a
/// std::vector of the row type.
class StatisticsTable {
 public:
  virtual ~StatisticsTable() = default;
  const TableInfo& info() const { return info_; }
  std::type_index row_type() const { return row_type_; }

  virtual std::size_t size(const std::any& rows) const = 0;
  /// Index: that of info().names or info().figures. REQUIRES: row < size(rows).
  virtual std::string name(const std::any& rows, std::size_t row, std::size_t index) const = 0;
  virtual FigureValue figure(const std::any& rows, std::size_t row, std::size_t index) const = 0;
  /// Puts rows with the figures that stand in `list`, an array of a result.json, in the place of
  /// those of `result`. What an older version did not count is 0.
  /// Throws Json::exception for a name that is missing or a value of another type.
  virtual void read(const FigureValue& list, RunResult& result) const = 0;
  /// What the summary shows of them: the views that were given, else one of all figures.
  virtual std::vector<TextTable> summary(const std::any& rows, const RunResult& result) const = 0;

 protected:
  StatisticsTable(std::string list, std::string sql_table, std::string sentence,
                  std::type_index row_type)
      : row_type_(row_type) {
    info_.list = std::move(list);
    info_.sql_table = std::move(sql_table);
    info_.sentence = std::move(sentence);
  }
  /// The rows of `result` as a table of all figures.
  TextTable plain_view(const std::any& rows) const;
  /// The objects of `entry` that are a row each, in the order of info().nested; itself where
  /// nothing is nested.
  std::vector<const FigureValue*> objects_of(const FigureValue& entry) const;
  /// Null where the object of a row has no such figure.
  static const FigureValue* found(const FigureValue& object, const FigureInfo& figure);
  TableInfo info_;

 private:
  std::type_index row_type_;
};

/// What a table reads into: the row itself, or Row::Slot, which refers to a part of what is stored.
template <class Row, class Stored>
struct SlotOf {
  using type = typename Row::Slot;
};
template <class Row>
struct SlotOf<Row, Row> {
  using type = Row;
};

/// A figure that says itself how it is read: write(slot, value).
template <class Get, class Slot, class = void>
struct Writes : std::false_type {};
template <class Get, class Slot>
struct Writes<Get, Slot,
              std::void_t<decltype(std::declval<const Get&>().write(
                  std::declval<Slot&>(), std::declval<const FigureValue&>()))>> : std::true_type {};

/// Of rows of a struct. Built by chained calls; kept for as long as the program runs.
/// Where what is stored (Stored) makes more than one row each, Row has
///   static std::size_t count(const std::vector<Stored>&);
///   static Row at(const std::vector<Stored>&, std::size_t row);
///   struct Slot, with void complete(const FigureValue&), told the figures once they are read;
///   static std::vector<Slot> slots(Stored&), in the order of the nested objects.
template <class Row, class Stored = Row>
class Table final : public StatisticsTable {
 public:
  using Rows = std::vector<Stored>;
  using View = std::function<TextTable(const Rows& rows, const RunResult& result)>;
  using Slot = typename SlotOf<Row, Stored>::type;

  Table(std::string list, std::string sql_table, std::string sentence)
      : StatisticsTable(std::move(list), std::move(sql_table), std::move(sentence),
                        typeid(Stored)) {
    info_.flat_prefix = info_.list;
  }

  /// `get`, here and below: a member of the row, or a function of the row. A member, a function
  /// that gives a reference to what a slot has, and one with write() are read from result.json as
  /// well.
  template <class Get>
  Table&& name(const char* key, Get get, const char* column = nullptr) && {
    info_.names.push_back({key, column == nullptr ? key : column});
    names_.push_back([get](const Row& row) -> std::string { return std::invoke(get, row); });
    name_readers_.push_back(reader(get));
    return std::move(*this);
  }
  /// The second name makes objects of these names.
  Table&& nest(const char* names) && {
    info_.nested = names;
    return std::move(*this);
  }
  /// The name before it is a number.
  Table&& as_number() && {
    info_.names.back().is_number = true;
    return std::move(*this);
  }
  /// See TableInfo::inner. Rows come in the order of their names.
  Table&& group(const char* inner) && {
    info_.inner = inner;
    return std::move(*this);
  }
  template <class Get>
  Table&& figure(const char* key, const char* unit, const char* definition, FigureType type,
                 Get get) && {
    info_.figures.push_back({key, unit, definition, type});
    figures_.push_back([get](const Row& row) { return figure_value(std::invoke(get, row)); });
    readers_.push_back(reader(get));
    return std::move(*this);
  }
  /// A count: what happened so often.
  template <class Get>
  Table&& count(const char* key, Get get, const char* definition, const char* unit = "") && {
    return std::move(*this).figure(key, unit, definition, FigureType::kCount, get);
  }
  /// A time. Unit: ns.
  template <class Get>
  Table&& time(const char* key, Get get, const char* definition) && {
    return std::move(*this).real(key, get, "ns", definition);
  }
  template <class Get>
  Table&& real(const char* key, Get get, const char* unit, const char* definition) && {
    return std::move(*this).figure(key, unit, definition, FigureType::kReal, get);
  }
  /// A real that some rows do not have.
  template <class Get>
  Table&& real_or_none(const char* key, Get get, const char* unit, const char* definition) && {
    return std::move(*this).figure(key, unit, definition, FigureType::kRealOrNone, get);
  }
  /// Whether something is so.
  template <class Get>
  Table&& flag(const char* key, Get get, const char* definition) && {
    return std::move(*this).figure(key, "", definition, FigureType::kCount, get);
  }
  template <class Get>
  Table&& text(const char* key, Get get, const char* definition) && {
    return std::move(*this).figure(key, "", definition, FigureType::kText, get);
  }
  Table&& by_kind(const char* key, CountsByKind Row::*member, const char* sql_table,
                  const char* definition) && {
    auto&& table = std::move(*this).figure(key, "", definition, FigureType::kByKind, member);
    info_.figures.back().kind_table = sql_table;
    return std::forward<Table>(table);
  }
  Table&& flat(FlatRows how, const char* prefix, std::vector<std::string> figures = {}) && {
    info_.flat = how;
    info_.flat_prefix = prefix;
    info_.flat_figures = std::move(figures);
    return std::move(*this);
  }
  /// The name that columns carry is not the last one.
  Table&& flat_by(const char* name) && {
    info_.flat_by = name;
    return std::move(*this);
  }
  /// Keys lack their unit, so that columns of a sweep get it.
  Table&& with_flat_units() && {
    info_.has_flat_units = true;
    return std::move(*this);
  }
  Table&& show(View view) && {
    views_.push_back(std::move(view));
    return std::move(*this);
  }

  std::size_t size(const std::any& rows) const override {
    if constexpr (std::is_same_v<Row, Stored>) {
      return of(rows).size();
    } else {
      return Row::count(of(rows));
    }
  }
  std::string name(const std::any& rows, std::size_t row, std::size_t index) const override {
    return names_[index](at(rows, row));
  }
  FigureValue figure(const std::any& rows, std::size_t row, std::size_t index) const override {
    return figures_[index](at(rows, row));
  }
  void read(const FigureValue& list, RunResult& result) const override {
    Rows& rows = result.rows<Stored>();
    rows.clear();
    for (const FigureValue& entry : ungrouped(info_, list)) {
      Stored& stored = rows.emplace_back();
      const std::vector<const FigureValue*> objects = objects_of(entry);
      if constexpr (std::is_same_v<Row, Stored>) {
        read_row(entry, *objects.front(), stored);
      } else {
        std::vector<Slot> slots = Row::slots(stored);
        for (std::size_t i = 0; i < slots.size(); ++i) {
          read_row(entry, *objects.at(i), slots[i]);
          slots[i].complete(*objects.at(i));
        }
      }
    }
  }
  std::vector<TextTable> summary(const std::any& rows, const RunResult& result) const override {
    if (views_.empty()) {
      return {plain_view(rows)};
    }
    return mapped<TextTable>(views_, [&](const View& view) { return view(of(rows), result); });
  }

 private:
  using Reader = std::function<void(Slot&, const FigureValue&)>;

  /// Empty for what follows from other figures.
  template <class Get>
  static Reader reader(Get get) {
    if constexpr (Writes<Get, Slot>::value) {
      return [get](Slot& slot, const FigureValue& value) { get.write(slot, value); };
    } else if constexpr (std::is_invocable_v<Get, Slot&>) {
      using Reached = std::invoke_result_t<Get, Slot&>;
      if constexpr (std::is_lvalue_reference_v<Reached> &&
                    !std::is_const_v<std::remove_reference_t<Reached>>) {
        return [get](Slot& slot, const FigureValue& value) {
          read_figure(value, std::invoke(get, slot));
        };
      }
    }
    return {};
  }
  void read_row(const FigureValue& names, const FigureValue& figures, Slot& slot) const {
    for (std::size_t i = 0; i < name_readers_.size(); ++i) {
      if (name_readers_[i]) {
        name_readers_[i](slot, names.at(info_.names[i].key));
      }
    }
    for (std::size_t i = 0; i < readers_.size(); ++i) {
      const FigureValue* const value = found(figures, info_.figures[i]);
      if (readers_[i] && value != nullptr && !value->is_null()) {
        readers_[i](slot, *value);
      }
    }
  }
  static const Rows& of(const std::any& rows) { return *std::any_cast<Rows>(&rows); }
  static decltype(auto) at(const std::any& rows, std::size_t row) {
    if constexpr (std::is_same_v<Row, Stored>) {
      return (of(rows)[row]);
    } else {
      return Row::at(of(rows), row);
    }
  }

  std::vector<std::function<std::string(const Row&)>> names_;
  std::vector<std::function<FigureValue(const Row&)>> figures_;
  std::vector<Reader> name_readers_, readers_;
  std::vector<View> views_;
};

// All tables, in the order of result.json.

/// Of what every machine has, and then those that components have added.
const std::vector<const StatisticsTable*>& all_tables();
/// Of a component; does nothing the second time. `table` outlives all results.
void add_table(const StatisticsTable& table);

const StatisticsTable& link_table();
const StatisticsTable& latency_table();
const StatisticsTable& hop_table();
const StatisticsTable& converged_table();
const StatisticsTable& handle_table();
const StatisticsTable& iommu_table();
const StatisticsTable& ats_table();
const StatisticsTable& wait_table();
const StatisticsTable& explain_table();
const StatisticsTable& cxl_cache_table();
const StatisticsTable& cxl_hdm_db_table();
const StatisticsTable& attack_table();

/// A row of `flitwise list statistics`.
struct StatisticInfo {
  std::string where;  ///< "links[].up|down", "latency[]", "dhi[]", "iommu[]", "flitwise"
  std::string key;
  std::string unit;
  std::string definition;
};
std::vector<StatisticInfo> all_statistics();

}  // namespace flitwise
