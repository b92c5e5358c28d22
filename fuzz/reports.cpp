/* Reports of any scores, names and texts: each is read again by a parser of its format, and says what was written.
 *
 * An input is a script. fNUMBER format, pTEXT printf format, sN n_subsample, e exact, x no times, kTEXT a column, lTEXT
 * the next encode, rN a frame, vREAL a score in its next column, - a column left out, tREAL its time, aREAL TEXT an
 * aggregate, wN N a window, gTEXT a range, dTEXT a device, cTEXT a version, hN N a size, qREAL frames per second, z cut
 * short, oREAL TEXT a doubt that pictures raise, with evidence. */
#include "report/report.h"

#include <expat.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <deque>
#include <sstream>

#include <nlohmann/json.hpp>

#include "base/json.h"
#include "fuzz/target.h"
#include "report/report_writers.h"
#include "vmafx/vmafx.h"

using namespace vmafx;
using namespace vmafx::fuzz;

namespace {

using nlohmann::json;

constexpr int kMostFrames = 64, kMostColumns = 12;
constexpr size_t kMostEncodes = 4;

/* The report that a script asks for. */
struct Asked {
  ReportOptions options;
  std::string score_format;
  std::vector<std::string> keys;
  struct Encode {
    EncodeLabel label;
    std::vector<std::vector<std::optional<double>>> rows{};  // [frame][column]
    std::vector<std::optional<double>> times{};
    std::vector<std::pair<std::string, double>> aggregates{};
    std::vector<FrameRange> windows{};
  };
  std::deque<Encode> encodes{{}};
  ReportData data{};
};

bool is_new(const std::vector<std::string>& keys, const std::string& key) {
  return std::ranges::none_of(keys, [&](const std::string& k) { return valid_utf8(k) == valid_utf8(key); });
}

void take_line(Script& script, Asked& asked) {
  Asked::Encode& encode = asked.encodes.back();
  switch (script.what()) {
    case 'f': asked.options.format = static_cast<ReportFormat>(script.number(0, 4)); break;
    case 'p': asked.score_format = script.text(); break;
    case 's': asked.options.n_subsample = script.number(1, 5); break;
    case 'e': asked.options.exact = true; break;
    case 'x': asked.options.all_times = false; break;
    case 'k':
      if (const std::string key = script.text(); asked.keys.size() < kMostColumns && is_new(asked.keys, key))
        asked.keys.push_back(key);
      break;
    case 'l':
      if (asked.encodes.size() < kMostEncodes)
        asked.encodes.push_back({{static_cast<int>(asked.encodes.size()), script.text()}});
      break;
    case 'r': {
      const size_t rows = static_cast<size_t>(script.number(0, kMostFrames)) + 1;
      encode.rows.resize(rows);
      encode.times.resize(rows);
      break;
    }
    case 'v':
      if (!encode.rows.empty()) encode.rows.back().push_back(script.real());
      break;
    case '-':
      if (!encode.rows.empty()) encode.rows.back().push_back(std::nullopt);
      break;
    case 't':
      if (!encode.times.empty()) encode.times.back() = script.real();
      break;
    case 'a': {
      const double value = script.real();
      encode.aggregates.emplace_back(script.text(), value);
      break;
    }
    case 'w': {
      const int first = script.number(0, kMostFrames);
      encode.windows.push_back({first, first + script.number(1, kMostFrames)});
      break;
    }
    case 'g': asked.data.range = RangeFacts{.given = script.text(), .from = "0", .to = "null"}; break;
    case 'd':
      asked.data.run = Json::object({{"backend", Json::object({{"vif", "hip"}})}, {"device", script.text()}});
      break;
    case 'c': asked.data.version = script.text(); break;
    case 'h': asked.data.width = script.number(-1, 1 << 20), asked.data.height = script.number(-1, 1 << 20); break;
    case 'q': asked.data.fps = script.real(); break;
    case 'o': {
      const double value = script.real();
      const std::string text = script.text();
      asked.data.picture_doubts.push_back(
          {.kind = text, .certainty = "sure", .end = 1, .evidence = {{text, value}}, .text = text, .remedies = {text}});
      break;
    }
    case 'z':
      asked.data.partial = true;
      asked.data.pairing = Pairing{{.paired = 1, .max_time_difference = script.real()}};
      break;
    default: break;
  }
}

ScoreTable table_of(const Asked& asked, const Asked::Encode& encode) {
  ScoreTable table(asked.keys);
  for (size_t frame = 0; frame < encode.rows.size(); frame++) {
    for (size_t column = 0; column < std::min(encode.rows[frame].size(), asked.keys.size()); column++)
      if (const auto score = encode.rows[frame][column])
        table.put(static_cast<int64_t>(frame), static_cast<int>(column), *score);
    if (const auto time = encode.times[frame]; time && std::isfinite(*time))
      table.set_time(static_cast<int64_t>(frame), *time);
  }
  for (const auto& [key, value] : encode.aggregates) table.set_aggregate(key, value);
  return table;
}

/* -- Reading them again -------------------------------------------------------------------------------------------- */

struct Written {
  const Asked& asked;
  const std::vector<ScoreTable>& tables;
  const std::string& text;

  std::vector<int64_t> rows(const ScoreTable& table) const {
    std::vector<int64_t> rows;
    for (int64_t frame = 0; frame < table.frames(); frame += asked.options.n_subsample)
      if (table.has_scores(frame)) rows.push_back(frame);
    return rows;
  }
};

#define REQUIRE_TEXT(condition) REQUIRE(condition, "%s", written.text.c_str())

json parsed(const std::string& text) {
  json document = json::parse(text, nullptr, false);
  REQUIRE(!document.is_discarded(), "no JSON: %s", text.c_str());
  return document;
}

/* The scores of a frame, which are those that the format prints. */
void require_metrics(const Written& written, const ScoreTable& table, int64_t frame, const json& metrics) {
  size_t scores = 0;
  for (int column = 0; column < table.columns(); column++) {
    const auto score = table.get(frame, column);
    if (!score) continue;
    scores++;
    const auto found = metrics.find(valid_utf8(table.keys()[static_cast<size_t>(column)]));
    REQUIRE_TEXT(found != metrics.end());
    const std::string printed = written.asked.options.score_format.print(*score);
    if (std::isfinite(*score)) REQUIRE_TEXT(found->is_number() && *found == json::parse(printed, nullptr, false));
    else REQUIRE_TEXT(written.asked.options.exact ? *found == printed : found->is_null());
    if (written.asked.options.exact && std::isfinite(*score)) REQUIRE_TEXT(found->get<double>() == *score);
  }
  REQUIRE_TEXT(metrics.size() == scores);
}

void read_frames(const Written& written, const ScoreTable& table, const json& frames) {
  const auto rows = written.rows(table);
  REQUIRE_TEXT(frames.size() == rows.size());
  for (size_t i = 0; i < rows.size(); i++) {
    REQUIRE_TEXT(frames[i]["frameNum"] == rows[i]);
    REQUIRE_TEXT(frames[i].contains("time") == table.time(rows[i]).has_value());
    require_metrics(written, table, rows[i], frames[i]["metrics"]);
  }
}

void read_json(const Written& written) {
  const json document = parsed(written.text);
  REQUIRE_TEXT(document["version"] == valid_utf8(written.asked.data.version));
  if (written.asked.encodes.size() == 1) return read_frames(written, written.tables[0], document["frames"]);
  for (size_t i = 0; i < written.tables.size(); i++) {
    const json& encode = document["encodes"][i];
    REQUIRE_TEXT(encode["name"] == valid_utf8(written.asked.encodes[i].label.name));
    read_frames(written, written.tables[i], encode["frames"]);
  }
}

void read_ndjson(const Written& written) {
  std::istringstream lines(written.text);
  json frames = json::array(), last;
  for (std::string line; std::getline(lines, line);) {
    last = parsed(line);
    if (last.contains("frameNum")) frames.push_back(last);
  }
  REQUIRE_TEXT(last.contains("vmafx") || last.contains("pooled_metrics") || last.contains("encodes"));
  if (written.asked.encodes.size() == 1) read_frames(written, written.tables[0], frames);
}

/* RFC 4180. */
std::vector<std::vector<std::string>> cells(const std::string& text) {
  std::vector<std::vector<std::string>> rows(1, {""});
  bool quoted = false;
  for (size_t i = 0; i < text.size(); i++) {
    const char c = text[i];
    std::string& cell = rows.back().back();
    if (quoted && c == '"' && i + 1 < text.size() && text[i + 1] == '"') cell += text[i++];
    else if (c == '"') quoted = !quoted;
    else if (!quoted && c == ',') rows.back().emplace_back();
    else if (!quoted && c == '\n') rows.push_back({""});
    else cell += c;
  }
  REQUIRE(!quoted && rows.back() == std::vector<std::string>{""}, "no CSV: %s", text.c_str());
  rows.pop_back();
  return rows;
}

void read_csv(const Written& written) {
  const auto rows = cells(written.text);
  const std::vector<std::string>& header = rows.front();
  size_t expected = 1;
  for (const ScoreTable& table : written.tables) expected += written.rows(table).size();
  REQUIRE_TEXT(rows.size() == expected);
  for (const auto& row : rows) REQUIRE_TEXT(row.size() == header.size());
  REQUIRE_TEXT(header.size() > written.asked.keys.size());  // each row ends with a comma
  for (size_t i = 0; i < written.asked.keys.size(); i++)
    REQUIRE_TEXT(header[header.size() - 1 - written.asked.keys.size() + i] == written.asked.keys[i]);
}

/* A line for each frame. */
void read_sub(const Written& written) {
  std::istringstream lines(written.text);
  for (const int64_t frame : written.rows(written.tables[0])) {
    std::string line;
    REQUIRE_TEXT(std::getline(lines, line));
    REQUIRE_TEXT(line.starts_with(format_text("{%d}{%d}frame: %d|", static_cast<int>(frame),
                                              static_cast<int>(frame) + 1, static_cast<int>(frame))));
  }
  REQUIRE_TEXT(lines.peek() == std::istringstream::traits_type::eof());
}

void read_xml(const Written& written) {
  struct Seen {
    size_t frames = 0, attributes = 0;
  } seen;
  const std::unique_ptr<XML_ParserStruct, void (*)(XML_Parser)> parser(XML_ParserCreate(nullptr), XML_ParserFree);
  XML_SetUserData(parser.get(), &seen);
  XML_SetStartElementHandler(parser.get(), [](void* user, const char* name, const char** attributes) {
    if (std::string_view(name) != "frame") return;
    Seen& counts = *static_cast<Seen*>(user);
    counts.frames++;
    for (; *attributes; attributes += 2) counts.attributes += std::string_view(*attributes) != "doubts";
  });
  const int size = static_cast<int>(written.text.size());
  REQUIRE(XML_Parse(parser.get(), written.text.data(), size, 1) == XML_STATUS_OK, "no XML: %s: %s",
          XML_ErrorString(XML_GetErrorCode(parser.get())), written.text.c_str());
  size_t attributes = 0;
  const ScoreTable& table = written.tables[0];
  for (const int64_t frame : written.rows(table)) {
    attributes += 1 + (written.asked.options.all_times && table.time(frame));
    for (int column = 0; column < table.columns(); column++) attributes += table.get(frame, column).has_value();
  }
  REQUIRE_TEXT(seen.frames == written.rows(table).size() && seen.attributes == attributes);
}

void read(const Written& written) {
  switch (written.asked.options.format) {
    case ReportFormat::kXml: return read_xml(written);
    case ReportFormat::kJson: return read_json(written);
    case ReportFormat::kCsv: return read_csv(written);
    case ReportFormat::kSub: return read_sub(written);
    case ReportFormat::kNdjson: return read_ndjson(written);
  }
}

/* -- Writing them -------------------------------------------------------------------------------------------------- */

void write(const Asked& asked, const std::vector<ScoreTable>& tables) {
  auto file = ReportFile::open(asked.options);
  REQUIRE(file.ok(), "%s", file.status().message().c_str());
  std::vector<EncodeReport> reports;
  for (size_t i = 0; i < tables.size(); i++) {
    const Asked::Encode& encode = asked.encodes[i];
    const EncodeLabel* label = tables.size() > 1 ? &encode.label : nullptr;
    reports.push_back({tables[i], label, asked.data});
    for (int64_t frame = 0; frame < tables[i].frames(); frame++)
      REQUIRE(file.value().append_frame(tables[i], frame, label).ok(), "frame %d", static_cast<int>(frame));
    for (const FrameRange& frames : encode.windows) {
      PooledFrames pooled = pool_frames(tables[i], frames, {}, asked.options.n_subsample);
      pooled.time = tables[i].time(frames.first);
      REQUIRE(file.value().append_window(tables[i], reports.back().data.windows.size(), pooled, label).ok(),
              "a window");
      reports.back().data.windows.push_back(std::move(pooled));
    }
  }
  REQUIRE(file.value().write(reports).ok() && file.value().commit().ok(), "it was not written");
}

/* The columns that have scores, in the order in which these come. */
Asked with_columns_as_they_come(const Asked& asked, const ScoreTable& table) {
  std::vector<int> order;
  for (int64_t frame = 0; frame < table.frames(); frame++)
    for (int column = 0; column < table.columns(); column++)
      if (table.get(frame, column) && std::ranges::find(order, column) == order.end()) order.push_back(column);
  Asked ordered = asked;
  ordered.keys.clear();
  for (const int column : order) ordered.keys.push_back(asked.keys[static_cast<size_t>(column)]);
  for (size_t frame = 0; frame < asked.encodes[0].rows.size(); frame++) {
    ordered.encodes[0].rows[frame].clear();
    for (const int column : order)
      ordered.encodes[0].rows[frame].push_back(table.get(static_cast<int64_t>(frame), column));
  }
  return ordered;
}

void require_words(void* words, VmafxLogLevel, const char* message) { *static_cast<bool*>(words) = *message != 0; }

/* Writes the report by the C API, which takes one encode, and no ndjson. */
void write_by_api(const Asked& given, const MemoryFile& file) {
  Asked asked = with_columns_as_they_come(given, table_of(given, given.encodes[0]));
  asked.options.all_times = true;
  asked.data.version = vmafx_version();
  std::vector<ScoreTable> tables;
  tables.push_back(table_of(asked, asked.encodes[0]));
  const ScoreTable& table = tables[0];
  std::vector<std::vector<VmafxScore>> scores;
  std::vector<VmafxFrameResult> frames;
  std::vector<VmafxPicture> pictures;
  for (int64_t frame = 0; frame < table.frames(); frame++) {
    scores.emplace_back();
    for (int column = 0; column < table.columns(); column++)
      if (const auto score = table.get(frame, column))
        scores.back().push_back({table.keys()[static_cast<size_t>(column)].c_str(), *score});
    frames.push_back({.frame = frame, .n_scores = scores.back().size()});
    pictures.push_back({.has_time = table.time(frame).has_value(), .time = table.time(frame).value_or(0)});
  }
  for (size_t i = 0; i < frames.size(); i++) frames[i].scores = scores[i].data();
  std::vector<VmafxScore> aggregates;
  for (const auto& [key, value] : table.aggregates()) aggregates.push_back({key.c_str(), value});

  constexpr const char* kFormats[] = {"xml", "json", "csv", "sub"};
  const std::string path = file.pipe();
  bool words = false;
  const VmafxReportStream stream = {.pictures = pictures.data(),
                                    .pairing = asked.data.pairing ? &asked.data.pairing->counts : nullptr};
  const VmafxReport report = {.path = path.c_str(),
                              .format = kFormats[static_cast<int>(asked.options.format)],
                              .score_fmt = asked.score_format.c_str(),
                              .width = asked.data.width,
                              .height = asked.data.height,
                              .n_subsample = asked.options.n_subsample,
                              .fps = asked.data.fps,
                              .n_frames = frames.size(),
                              .frames = frames.data(),
                              .n_aggregates = aggregates.size(),
                              .aggregates = aggregates.data(),
                              .log = require_words,
                              .log_cookie = &words,
                              .stream = &stream};
  const int ret = vmafx_write_report(&report);
  REQUIRE(ret == 0 || words, "%d without words", ret);
  REQUIRE(ret == 0, "%d", ret);
  const std::string text = file.text();
  read({asked, tables, text});
}

/* Whether C's texts can say all of it. */
bool is_for_api(const Asked& asked) {
  const auto has_zero = [](const std::string& text) { return text.find('\0') != text.npos; };
  return asked.encodes.size() == 1 && asked.options.format != ReportFormat::kNdjson && !asked.options.exact &&
         !has_zero(asked.score_format) && std::ranges::none_of(asked.keys, has_zero) &&
         std::ranges::none_of(asked.encodes[0].aggregates, [&](const auto& a) { return has_zero(a.first); });
}

}  // namespace

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  Asked asked;
  for (Script script(data, size); script.next();) take_line(script, asked);
  const bool is_json = asked.options.format == ReportFormat::kJson || asked.options.format == ReportFormat::kNdjson;
  const auto format = ScoreFormat::parse(asked.score_format, is_json);
  if (!format.ok()) return require_reason(format.status()), 0;
  asked.options.exact &= is_json;
  asked.options.score_format = asked.options.exact ? ScoreFormat::exact() : format.value();
  if (asked.options.format == ReportFormat::kXml || asked.options.format == ReportFormat::kSub) asked.encodes.resize(1);

  const MemoryFile file;
  asked.options.path = file.pipe();
  std::vector<ScoreTable> tables;
  for (const Asked::Encode& encode : asked.encodes) tables.push_back(table_of(asked, encode));
  write(asked, tables);
  const std::string text = file.text();
  read({asked, tables, text});
  if (is_for_api(asked)) write_by_api(asked, MemoryFile());
  return 0;
}
