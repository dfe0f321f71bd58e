// SPDX-License-Identifier: Apache-2.0
// Units and requests as rows.
#include <fmt/format.h>
#include <sqlite3.h>

#include <array>
#include <cerrno>
#include <system_error>
#include <unordered_map>

#include "trace/packet_note.h"
#include "trace/trace_sink.h"

namespace flitwise {
namespace {

constexpr const char* kSchema = R"(
CREATE TABLE unit (link TEXT, direction TEXT, type TEXT, uid INTEGER, first_ps INTEGER, last_ps INTEGER,
  sequence INTEGER, is_replay INTEGER, is_damaged INTEGER, is_lost INTEGER, in_flit INTEGER,
  requester_id TEXT, completer_id TEXT, tag INTEGER, address INTEGER, length_dw INTEGER, first_be INTEGER,
  last_be INTEGER, tc INTEGER, at INTEGER, relaxed_ordering INTEGER, id_based_ordering INTEGER,
  no_snoop INTEGER, is_handle INTEGER, pasid INTEGER, status INTEGER, byte_count INTEGER,
  lower_address INTEGER, message_code INTEGER, payload_bytes INTEGER, wire_bits INTEGER,
  identity_bits INTEGER);
CREATE TABLE request (uid INTEGER, type TEXT, link TEXT, requester_id TEXT, tag INTEGER, address INTEGER,
  length_dw INTEGER, pasid INTEGER, payload_bytes INTEGER, domain INTEGER, is_counted INTEGER,
  issue_ps INTEGER, handle_ps INTEGER, queued_ps INTEGER, sent_ps INTEGER, received_ps INTEGER,
  resolved_ps INTEGER, memory_ps INTEGER, completed_ps INTEGER, done_ps INTEGER);
)";
constexpr const char* kIndexes = R"(
CREATE INDEX unit_by_uid ON unit (uid);
CREATE INDEX request_by_uid ON request (uid);
)";

/// One statement, whose values are given in the order of its columns.
class Insert {
 public:
  Insert(sqlite3* database, const char* table, unsigned columns) {
    std::string places = "?";
    for (unsigned i = 1; i < columns; ++i) {
      places += ", ?";
    }
    const std::string sql = fmt::format("INSERT INTO {} VALUES ({})", table, places);
    sqlite3_prepare_v2(database, sql.c_str(), -1, &statement_, nullptr);
  }
  ~Insert() { sqlite3_finalize(statement_); }
  Insert(const Insert&) = delete;
  Insert& operator=(const Insert&) = delete;

  void add(std::uint64_t value) {
    sqlite3_bind_int64(statement_, ++column_, static_cast<sqlite3_int64>(value));
  }
  void add(const std::string& text) {
    sqlite3_bind_text(statement_, ++column_, text.c_str(), static_cast<int>(text.size()),
                      SQLITE_TRANSIENT);
  }
  /// A text that outlives the file.
  void add(const char* text) { sqlite3_bind_text(statement_, ++column_, text, -1, SQLITE_STATIC); }
  void add(Time time) {
    if (time == kNotStamped) {
      none();
    } else {
      add(static_cast<std::uint64_t>(time.fs / 1000));
    }
  }
  void none() { sqlite3_bind_null(statement_, ++column_); }
  bool end() {
    column_ = 0;
    const bool is_good = sqlite3_step(statement_) == SQLITE_DONE;
    sqlite3_reset(statement_);
    return is_good;
  }

 private:
  sqlite3_stmt* statement_ = nullptr;
  int column_ = 0;
};

class SqliteTrace final : public TraceSink {
 public:
  explicit SqliteTrace(const std::string& path)
      : path_(path),
        database_(open(path)),
        units_(database_, "unit", 32),
        requests_(database_, "request", 20) {}
  ~SqliteTrace() override {
    if (!is_whole_) {
      sqlite3_exec(database_, "COMMIT", nullptr, nullptr, nullptr);
    }
    // Statements are members that go later: SQLite closes the file with the last of them.
    sqlite3_close_v2(database_);
  }
  SqliteTrace(const SqliteTrace&) = delete;
  SqliteTrace& operator=(const SqliteTrace&) = delete;

  void record(const TraceEvent& event) override {
    if (!event.is_shown) {
      return;
    }
    const Packet& packet = *event.packet;
    begin();
    if (packet.kind == PacketKind::kMessage ||
        (packet.kind == PacketKind::kTlp && !is_completion(packet.tlp.type))) {
      first_link_.emplace(packet.uid, event.link);
    }
    units_.add(event.link);
    units_.add(event.is_up ? "up" : "down");
    units_.add(kind_of(packet));
    units_.add(packet.uid);
    units_.add(event.first);
    units_.add(event.last);
    for (const std::uint64_t number :
         {std::uint64_t{event.sequence}, std::uint64_t{event.is_replay},
          std::uint64_t{event.is_damaged}, std::uint64_t{event.is_lost},
          std::uint64_t{event.is_in_flit}}) {
      units_.add(number);
    }
    add_tlp(packet);
    units_.add(std::uint64_t{packet.payload_bytes});
    units_.add(std::uint64_t{packet.size.total()});
    units_.add(std::uint64_t{packet.size.identity});
    note(units_.end());
  }

  void over(const RequestEvent& event) override {
    const Packet& packet = *event.packet;
    const Tlp& tlp = packet.tlp;
    begin();
    requests_.add(packet.uid);
    requests_.add(kind_of(packet));
    const auto link = first_link_.find(packet.uid);
    if (link == first_link_.end()) {
      requests_.none();
    } else {
      requests_.add(link->second);
      first_link_.erase(link);
    }
    requests_.add(text_of(tlp.requester_id));
    requests_.add(std::uint64_t{tlp.tag});
    requests_.add(packet.cxl ? packet.cxl->address : tlp.address);
    requests_.add(std::uint64_t{tlp.length_dw});
    if (tlp.has_pasid) {
      requests_.add(std::uint64_t{to_int(tlp.pasid)});
    } else {
      requests_.none();
    }
    requests_.add(std::uint64_t{packet.payload_bytes});
    requests_.add(std::uint64_t{to_int(packet.domain)});
    requests_.add(std::uint64_t{packet.counts});
    for (const Time stamp : packet.stamps) {
      requests_.add(stamp);
    }
    requests_.add(event.done);
    note(requests_.end());
  }

  void flush() override {
    if (is_open_) {
      note(sqlite3_exec(database_, "COMMIT", nullptr, nullptr, nullptr) == SQLITE_OK);
      is_open_ = false;
    }
    if (!is_whole_) {
      is_whole_ = true;
      note(sqlite3_exec(database_, kIndexes, nullptr, nullptr, nullptr) == SQLITE_OK);
    }
    if (!flaw_.empty()) {
      throw std::system_error(EIO, std::generic_category(), flaw_);
    }
  }

 private:
  // What fails later ends the run with flush(); the file is thrown away then, so that no journal
  // has to bring it back.
  static sqlite3* open(const std::string& path) {
    sqlite3* database = nullptr;
    constexpr const char* kFast =
        "PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; PRAGMA locking_mode = EXCLUSIVE;";
    if (sqlite3_open_v2(path.c_str(), &database, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE,
                        nullptr) != SQLITE_OK ||
        sqlite3_exec(database, kFast, nullptr, nullptr, nullptr) != SQLITE_OK ||
        sqlite3_exec(database, kSchema, nullptr, nullptr, nullptr) != SQLITE_OK) {
      const std::string flaw = fmt::format("{}: SQLite: {}", path, sqlite3_errmsg(database));
      sqlite3_close_v2(database);
      throw std::system_error(EIO, std::generic_category(), flaw);
    }
    return database;
  }
  void begin() {
    if (!is_open_) {
      is_open_ = true;
      note(sqlite3_exec(database_, "BEGIN", nullptr, nullptr, nullptr) == SQLITE_OK);
    }
  }
  void note(bool is_good) {
    if (!is_good && flaw_.empty()) {
      flaw_ = fmt::format("{}: SQLite: {}", path_, sqlite3_errmsg(database_));
    }
  }
  void add_tlp(const Packet& packet) {
    constexpr unsigned kColumns = 18;
    if (packet.kind != PacketKind::kTlp) {
      for (unsigned i = 0; i < kColumns; ++i) {
        units_.none();
      }
      return;
    }
    const Tlp& tlp = packet.tlp;
    const bool is_answer = is_completion(tlp.type);
    const auto only = [this](bool has, std::uint64_t value) {
      if (has) {
        units_.add(value);
      } else {
        units_.none();
      }
    };
    units_.add(text_of(tlp.requester_id));
    if (is_answer) {
      units_.add(text_of(tlp.completer_id));
    } else {
      units_.none();
    }
    units_.add(std::uint64_t{tlp.tag});
    only(!is_answer && !is_message(tlp.type), tlp.address);
    units_.add(std::uint64_t{tlp.length_dw});
    only(!is_answer, tlp.first_be);
    only(!is_answer, tlp.last_be);
    units_.add(std::uint64_t{tlp.tc});
    units_.add(static_cast<std::uint64_t>(tlp.at));
    units_.add(std::uint64_t{tlp.relaxed_ordering});
    units_.add(std::uint64_t{tlp.id_based_ordering});
    units_.add(std::uint64_t{tlp.no_snoop});
    units_.add(std::uint64_t{tlp.id_is_handle});
    only(tlp.has_pasid, to_int(tlp.pasid));
    only(is_answer, static_cast<std::uint64_t>(tlp.status));
    only(is_answer, tlp.byte_count);
    only(is_answer, tlp.lower_address);
    only(is_message(tlp.type), tlp.message_code);
  }

  const std::string path_;
  sqlite3* database_;
  Insert units_, requests_;
  bool is_open_ = false, is_whole_ = false;
  std::string flaw_;
  std::unordered_map<std::uint64_t, const char*> first_link_;  // by uid: of requests under way
};

}  // namespace

std::unique_ptr<TraceSink> sqlite_trace(const std::string& path) {
  return std::make_unique<SqliteTrace>(path);
}

}  // namespace flitwise
