// SPDX-License-Identifier: Apache-2.0
// Which tables there are, and what all of them have in common.
#include "results/tables.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/algorithm/string/replace.hpp>
#include <boost/algorithm/string/split.hpp>
#include <boost/range/algorithm_ext/push_back.hpp>
#include <cmath>
#include <stdexcept>

#include "common/ranges.h"
#include "results/result_json.h"

namespace flitwise {
namespace {

std::vector<const StatisticsTable*>& tables() {
  static std::vector<const StatisticsTable*> all = {
      &link_table(),    &latency_table(),   &hop_table(),        &converged_table(),
      &handle_table(),  &iommu_table(),     &ats_table(),        &wait_table(),
      &explain_table(), &cxl_cache_table(), &cxl_hdm_db_table(), &attack_table()};
  return all;
}

std::string text_of(const FigureValue& value, const std::string& unit) {
  if (value.is_number_integer()) {
    return unit == "B" ? bytes_text(value.get<double>())
                       : with_thousands(value.get<std::uint64_t>());
  }
  if (value.is_number()) {
    return unit == "ns" ? time_text(value.get<double>())
                        : fmt::format("{:.2f}", value.get<double>());
  }
  return value.is_string() ? value.get<std::string>() : "-";
}

}  // namespace

FigureValue ungrouped(const TableInfo& table, const FigureValue& list) {
  if (table.inner.empty()) {
    return list;
  }
  FigureValue rows = FigureValue::array();
  for (const FigureValue& group : list) {
    for (const FigureValue& inner : group.at(table.inner)) {
      FigureValue row = inner;
      for (const NameInfo& name : table.names) {
        const FigureValue& value =
            &name == &table.names.back() ? inner.at(name.key) : group.at(name.key);
        row[name.key] = value.is_string() ? value : FigureValue(value.dump());
      }
      rows.push_back(std::move(row));
    }
  }
  return rows;
}

const std::vector<const StatisticsTable*>& all_tables() {
  return tables();
}

void add_table(const StatisticsTable& table) {
  if (std::find(tables().begin(), tables().end(), &table) == tables().end()) {
    tables().push_back(&table);
  }
}

std::vector<StatisticInfo> all_statistics() {
  std::vector<StatisticInfo> list = {
      {"flitwise", "simulated_ns", "ns",
       "Simulated time from the first counted request to the end of the last."},
      {"flitwise", "host_seconds", "s", "Wall-clock time that the run took on the host."},
  };
  for (const StatisticsTable* const table : all_tables()) {
    const TableInfo& info = table->info();
    const std::string where = info.list + "[]" + (info.nested.empty() ? "" : "." + info.nested);
    for (const FigureInfo& figure : info.figures) {
      list.push_back({where, figure.type == FigureType::kByKind ? figure.key + ".KIND" : figure.key,
                      figure.unit, figure.definition});
    }
    if (table == &latency_table()) {
      list.insert(
          list.end(),
          {{"latency[]", "dma_read", "ns",
            "Read requests of engines: from issue to the last byte at the engine."},
           {"latency[]", "dma_write", "ns",
            "Write requests of engines: from issue to the last byte in memory, or in a cache that "
            "keeps the line."},
           {"latency[]", "dma_write_tlp", "ns",
            "Write TLPs, or lines of CXL, each: from the request's issue to memory, or to a cache "
            "that keeps it."}});
    }
  }
  list.push_back({"errors[]", "count", "", "Things refused, dropped or reported, by kind."});
  return list;
}

void read_figure(const FigureValue& from, Time& to) {
  constexpr double kFsPerNs = 1e6;
  const double fs = std::round(from.get<double>() * kFsPerNs);
  if (!(std::abs(fs) < static_cast<double>(Time::never().fs))) {
    throw std::out_of_range(
        fmt::format("a time of {} ns; expected at most {} ns", from.dump(), Time::never().ns()));
  }
  to = {static_cast<std::int64_t>(fs)};
}

std::string FigureInfo::column() const {
  return boost::replace_all_copy(key, ".", "_");
}

std::vector<const FigureValue*> StatisticsTable::objects_of(const FigureValue& entry) const {
  if (info_.nested.empty()) {
    return {&entry};
  }
  std::vector<std::string> names;
  boost::split(names, info_.nested, [](char letter) { return letter == '|'; });
  return mapped<const FigureValue*>(names,
                                    [&entry](const std::string& name) { return &entry.at(name); });
}

const FigureValue* StatisticsTable::found(const FigureValue& object, const FigureInfo& figure) {
  object.get_ref<const FigureValue::object_t&>();  // throws where it is none
  const FigureValue::json_pointer place = pointer_of(figure.key);
  return object.contains(place) ? &object.at(place) : nullptr;
}

TextTable StatisticsTable::plain_view(const std::any& rows) const {
  std::vector<std::string> header = mapped(info_.names, &NameInfo::column);
  header.front() = info_.list + ": " + header.front();
  boost::range::push_back(header, mapped(info_.figures, &FigureInfo::key));
  TextTable table(header, info_.names.size());
  table.name_rows_by(info_.names.size());
  for (std::size_t row = 0; row < size(rows); ++row) {
    std::vector<std::string> cells;
    for (std::size_t i = 0; i < info_.names.size(); ++i) {
      cells.push_back(name(rows, row, i));
    }
    for (std::size_t i = 0; i < info_.figures.size(); ++i) {
      cells.push_back(text_of(figure(rows, row, i), info_.figures[i].unit));
    }
    table.add_row(cells);
  }
  return table;
}

}  // namespace flitwise
