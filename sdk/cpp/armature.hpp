// The Armature SDK for C++: one header over nlohmann/json and the C++ library.
// README.md beside it shows how it is used; the contract below it is
// ../abi/abi.md. C++20, without exceptions in WebAssembly.
//
// Everything is done as the caller of the method, in the transaction of the
// request. Every call starts from the state after loading: nothing a call leaves
// in a variable is seen by another, and all its memory comes back.
//
// Outside WebAssembly the functions of the host are those of stubhost.hpp, so
// that a plugin's methods can be tested as a native program.
#ifndef ARMATURE_HPP
#define ARMATURE_HPP

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <initializer_list>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

namespace armature::detail {
[[noreturn]] void json_failed(const char* what);
}

// What nlohmann/json would throw ends the call: a value that is not of the type
// that is asked for cannot be gone on with.
#ifdef INCLUDE_NLOHMANN_JSON_HPP_
#error "include armature.hpp before nlohmann/json.hpp, which has to know what to do without exceptions"
#endif
#define JSON_THROW_USER(exception) ::armature::detail::json_failed((exception).what())
#define JSON_TRY_USER if (true)
#define JSON_CATCH_USER(exception) if (false)
#define JSON_INTERNAL_CATCH_USER(exception) if (false)
#define JSON_USE_IMPLICIT_CONVERSIONS 0
#ifdef __wasm__ // neither streams nor files
#define JSON_NO_IO
#define JSON_HAS_FILESYSTEM 0
#define JSON_HAS_EXPERIMENTAL_FILESYSTEM 0
#endif
#include <nlohmann/json.hpp>

// ---- The host's functions, as abi.md has them ----

#ifdef __wasm__
#define ARMATURE_IMPORT(name) __attribute__((import_module("armature1"), import_name(name)))
#define ARMATURE_EXPORT(name) __attribute__((export_name(name)))
#else
#define ARMATURE_IMPORT(name)
#define ARMATURE_EXPORT(name)
#endif
#define ARMATURE_CAPABILITY(name) ARMATURE_IMPORT(#name) int armature_##name(const char* in, int in_len, char* out, int out_cap)

extern "C" {
ARMATURE_IMPORT("input") int armature_input(char* p, int cap);
ARMATURE_IMPORT("output") void armature_output(const char* p, int len);
ARMATURE_IMPORT("throw") __attribute__((noreturn)) void armature_throw(int kind, const char* p, int len);
ARMATURE_IMPORT("take") int armature_take(char* p, int cap);
ARMATURE_IMPORT("log") void armature_log(int level, const char* p, int len);
ARMATURE_IMPORT("now") long long armature_now();
ARMATURE_IMPORT("random") void armature_random(char* p, int len);
ARMATURE_CAPABILITY(doc_get);
ARMATURE_CAPABILITY(doc_list);
ARMATURE_CAPABILITY(doc_count);
ARMATURE_CAPABILITY(doc_insert);
ARMATURE_CAPABILITY(doc_update);
ARMATURE_CAPABILITY(doc_delete);
ARMATURE_CAPABILITY(doc_submit);
ARMATURE_CAPABILITY(doc_cancel);
ARMATURE_CAPABILITY(method_call);
ARMATURE_CAPABILITY(caller_get);
ARMATURE_CAPABILITY(config_get);
ARMATURE_CAPABILITY(kv_get);
ARMATURE_CAPABILITY(kv_set);
ARMATURE_CAPABILITY(kv_delete);
ARMATURE_CAPABILITY(http_fetch);
ARMATURE_CAPABILITY(connected_request);
ARMATURE_CAPABILITY(request_get);
ARMATURE_CAPABILITY(respond);
ARMATURE_CAPABILITY(enqueue);
}

namespace armature {

using json = nlohmann::json;

// ---- Errors ----

// The kind of an error, with the HTTP status that follows from it.
enum class Kind : int {
  Internal = 1,           // 500: a bug; the message is logged, not shown
  Validation = 2,         // 417: understood and refused by a rule
  Authentication = 3,     // 401: credentials are wrong
  Permission = 4,         // 403: the caller may not do this
  NotFound = 5,           // 404: no such thing for this caller
  Conflict = 6,           // 409: the name is taken
  Gone = 7,               // 410: past its use
  TooLarge = 8,           // 413: over the limit
  UnsupportedMedia = 9,   // 415: a content type that is not read
  TooManyRequests = 10,   // 429: a budget is used up
  Unavailable = 11,       // 503: try again later
  BadRequest = 12,        // 400: malformed
  Timeout = 13,           // 504: took longer than its limit
  NotImplemented = 14,    // 501: this server cannot do it
  MethodNotAllowed = 15,  // 405: a known path without this verb
  Exhausted = 16,         // 500: a limit other than time is used up
  Trap = 17,              // 500: the plugin died
};

// The kind of a number; a number that is not known is Internal.
constexpr Kind kind_of(long long number) { return number >= 1 && number <= 17 ? static_cast<Kind>(number) : Kind::Internal; }

// A failure of a call: what the server reports, and what a method returns to fail
// in a way its client can understand.
struct Error {
  Kind kind = Kind::Internal;
  std::string message;  // shown to the client, except for Kind::Internal
  std::string type;     // the client's exc_type; empty: the kind's own

  // A rule of the plugin refuses the request (HTTP 417).
  static Error invalid(std::string message, std::string type = {}) { return {Kind::Validation, std::move(message), std::move(type)}; }
  // The caller may not do this (HTTP 403).
  static Error denied(std::string message, std::string type = {}) { return {Kind::Permission, std::move(message), std::move(type)}; }
  // There is no such thing (HTTP 404).
  static Error not_found(std::string message, std::string type = {}) { return {Kind::NotFound, std::move(message), std::move(type)}; }

  bool operator==(const Error&) const = default;
};

namespace detail {
// Text that is not UTF-8 is sent with replacement characters.
inline std::string text_of(const json& v) { return v.dump(-1, ' ', false, json::error_handler_t::replace); }
}  // namespace detail

// Ends the call with an error; everything it wrote is undone. Nothing of the
// plugin runs after it, destructors neither: the server takes back all memory.
[[noreturn]] inline void raise(const Error& error) {
  const std::string text = detail::text_of({{"exc_type", error.type}, {"message", error.message}});
  armature_throw(static_cast<int>(error.kind), text.data(), static_cast<int>(text.size()));
}

// What a call of the server came to: a value, or an error. Asking for the value
// where there is an error ends the call with that error, so
// `get("ToDo", name).value()` is all it takes to pass an error on, and
// `if (auto todo = get("ToDo", name))` to look at it.
template <class T>
class [[nodiscard]] Result {
 public:
  Result(T value) : state_(std::in_place_index<0>, std::move(value)) {}
  Result(Error error) : state_(std::in_place_index<1>, std::move(error)) {}

  explicit operator bool() const { return state_.index() == 0; }
  bool has_value() const { return state_.index() == 0; }
  // Where there is a value, asking for the error is a mistake, and a trap.
  const Error& error() const {
    if (has_value()) std::abort();
    return *std::get_if<1>(&state_);
  }

  T& value() & { return must(), *std::get_if<0>(&state_); }
  const T& value() const& { return must(), *std::get_if<0>(&state_); }
  T value() && { return must(), std::move(*std::get_if<0>(&state_)); }
  T value_or(T other) && { return has_value() ? std::move(*this).value() : std::move(other); }
  T& operator*() & { return value(); }
  T operator*() && { return std::move(*this).value(); }
  const T& operator*() const& { return value(); }
  T* operator->() { return &value(); }
  const T* operator->() const { return &value(); }

 private:
  void must() const {
    if (!has_value()) raise(error());
  }
  std::variant<T, Error> state_;
};

template <>
class [[nodiscard]] Result<void> {
 public:
  Result() = default;
  Result(Error error) : error_(std::move(error)) {}

  explicit operator bool() const { return !error_; }
  bool has_value() const { return !error_; }
  const Error& error() const {
    if (!error_) std::abort();
    return *error_;
  }
  void value() const {
    if (error_) raise(*error_);
  }

 private:
  std::optional<Error> error_;
};

// ---- JSON objects ----

// Declared before the class, whose functions have to know that it is JSON.
class Document;
void to_json(json& out, const Document& document);
void from_json(const json& in, Document& document);

// A JSON object: a document, some of its fields, or the arguments of a method.
// The readers never fail: a member that is absent or of another type is the empty
// value. `fields` is all of it.
class Document {
 public:
  json fields = json::object();

  Document() = default;
  Document(std::initializer_list<std::pair<std::string_view, json>> members) {
    for (const auto& [name, value] : members) fields[std::string(name)] = value;
  }
  // What is no object becomes an empty one.
  explicit Document(json object) {
    if (object.is_object()) fields = std::move(object);
  }

  // A member to be written; null if there was none.
  json& operator[](std::string_view name) { return fields[std::string(name)]; }
  // A member to be read; null if there is none.
  const json& at(std::string_view name) const {
    static const json nothing;
    const auto found = fields.find(name);
    return found == fields.end() ? nothing : *found;
  }
  Document& set(std::string_view name, json value) { return fields[std::string(name)] = std::move(value), *this; }

  // Reports whether there is a member, and that it is not null.
  bool has(std::string_view name) const { return !at(name).is_null(); }

  std::string name() const { return text("name"); }
  std::string text(std::string_view name) const {
    const auto* s = at(name).get_ptr<const std::string*>();
    return s ? *s : std::string();
  }
  // A whole number, cut toward zero; text that is a number counts, because
  // arguments from a query string are text.
  long long integer(std::string_view name) const;
  double number(std::string_view name) const;
  // True, or a number other than 0.
  bool flag(std::string_view name) const { return number(name) != 0; }
  Document object(std::string_view name) const { return Document(at(name)); }
  // An array's elements.
  const std::vector<json>& array(std::string_view name) const {
    static const std::vector<json> nothing;
    const auto* a = at(name).get_ptr<const json::array_t*>();
    return a ? *a : nothing;
  }
  // A child table's rows.
  std::vector<Document> rows(std::string_view name) const { return {array(name).begin(), array(name).end()}; }

  // The whole as a type of the plugin's, by its from_json. What does not fit ends
  // the call with an error.
  template <class T>
  T as() const {
    return fields.get<T>();
  }

  bool operator==(const Document& other) const { return fields == other.fields; }
};

inline void to_json(json& out, const Document& document) { out = document.fields; }
inline void from_json(const json& in, Document& document) { document = Document(in); }

namespace detail {

// A number as JSON reads it, from the text of a query string, too.
inline json number_of(const json& v) {
  if (v.is_boolean()) return v.get<bool>() ? 1 : 0;
  if (v.is_number()) return v;
  if (const auto* s = v.get_ptr<const std::string*>()) {
    json n = json::parse(*s, nullptr, false);
    if (n.is_number()) return n;
  }
  return 0;
}

}  // namespace detail

inline double Document::number(std::string_view name) const { return detail::number_of(at(name)).get<double>(); }

inline long long Document::integer(std::string_view name) const {
  const json n = detail::number_of(at(name));
  if (!n.is_number_float()) return n.get<long long>();
  const double d = n.get<double>();
  return d > -9.2e18 && d < 9.2e18 ? static_cast<long long>(d) : 0;
}

// ---- Calling the host ----

namespace detail {

using Capability = int (*)(const char*, int, char*, int);

// Sends a request to a function of the host. It is inlined, so that the module
// imports those that are called and no other.
[[gnu::always_inline]] inline Result<json> ask(Capability call, const json& request) {
  constexpr int room = 4096;
  const std::string in = text_of(request);
  std::string out(room, '\0');
  const int n = call(in.data(), static_cast<int>(in.size()), out.data(), room);
  const int length = n < 0 ? armature_take(out.data(), room) : n;
  out.resize(static_cast<std::size_t>(length));
  if (length > room) armature_take(out.data() + room, length - room);
  json answer = json::parse(out, nullptr, false);
  if (n >= 0) return answer;
  const Document body(std::move(answer));
  return Error{kind_of(-n), body.text("message"), body.text("exc_type")};
}

// The answer as a type of the plugin's.
template <class T>
Result<T> as(Result<json> r) {
  if (!r) return r.error();
  if constexpr (std::is_same_v<T, json>) return r;
  else if constexpr (std::is_same_v<T, Document>) return Document(std::move(r).value());
  else return r->template get<T>();
}

inline Result<void> done(const Result<json>& r) { return r ? Result<void>() : Result<void>(r.error()); }

}  // namespace detail

// ---- Documents. A write that the server refuses is undone by itself: a method
// may look at the error and go on. T is Document, json, or a type with from_json,
// such as NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE_WITH_DEFAULT writes. ----

// Reads a document.
template <class T = Document>
Result<T> get(std::string_view doctype, std::string_view name) {
  return detail::as<T>(detail::ask(armature_doc_get, {{"doctype", doctype}, {"name", name}}));
}

// Stores a new document and returns it as stored.
template <class T = Document>
Result<T> insert(std::string_view doctype, Document fields) {
  fields["doctype"] = doctype;
  return detail::as<T>(detail::ask(armature_doc_insert, {{"doc", std::move(fields.fields)}}));
}

// Changes the fields given, leaves the others, and returns the whole document.
template <class T = Document>
Result<T> update(std::string_view doctype, std::string_view name, const Document& changes) {
  return detail::as<T>(detail::ask(armature_doc_update, {{"doctype", doctype}, {"name", name}, {"doc", changes.fields}}));
}

// Removes a document.
inline Result<void> remove(std::string_view doctype, std::string_view name) {
  return detail::done(detail::ask(armature_doc_delete, {{"doctype", doctype}, {"name", name}}));
}

// Makes a draft final: docstatus 0 to 1.
template <class T = Document>
Result<T> submit(std::string_view doctype, std::string_view name) {
  return detail::as<T>(detail::ask(armature_doc_submit, {{"doctype", doctype}, {"name", name}}));
}

// Takes a submitted document back: docstatus 1 to 2.
template <class T = Document>
Result<T> cancel(std::string_view doctype, std::string_view name) {
  return detail::as<T>(detail::ask(armature_doc_cancel, {{"doctype", doctype}, {"name", name}}));
}

// Which documents to list or count, and what of them:
//   Query("ToDo").field("name").eq("status", "Open").order_by("modified desc").limit(5).list()
// Without a field a list has names only, without a limit 20 rows.
class Query {
 public:
  explicit Query(std::string_view doctype) : request_{{"doctype", doctype}} {}

  Query& field(std::string_view name) { return add("fields", name); }
  Query& fields(std::initializer_list<std::string_view> names) {
    for (const auto name : names) field(name);
    return *this;
  }
  // Adds a condition with any operator the server knows; all have to hold.
  Query& where(std::string_view field, std::string_view op, json value) { return add("filters", json::array({field, op, std::move(value)})); }
  // Adds a condition of those of which one has to hold.
  Query& or_where(std::string_view field, std::string_view op, json value) { return add("or_filters", json::array({field, op, std::move(value)})); }
  Query& eq(std::string_view field, json value) { return where(field, "=", std::move(value)); }
  Query& ne(std::string_view field, json value) { return where(field, "!=", std::move(value)); }
  Query& lt(std::string_view field, json value) { return where(field, "<", std::move(value)); }
  Query& gt(std::string_view field, json value) { return where(field, ">", std::move(value)); }
  // Matches a pattern of % and _.
  Query& like(std::string_view field, std::string_view pattern) { return where(field, "like", pattern); }
  // Is true for any of the values.
  Query& any_of(std::string_view field, std::vector<json> values) { return where(field, "in", std::move(values)); }
  // "field asc" or "field desc".
  Query& order_by(std::string_view order) { return set("order_by", order); }
  Query& group_by(std::string_view field) { return set("group_by", field); }
  // Skips rows.
  Query& start(std::size_t rows) { return set("limit_start", rows); }
  // At most so many rows.
  Query& limit(std::size_t rows) { return set("limit_page_length", rows); }
  // Every row there is.
  Query& all() { return limit(0); }

  // The documents, each with the fields asked for.
  template <class T = Document>
  Result<std::vector<T>> list() const {
    return detail::as<std::vector<T>>(detail::ask(armature_doc_list, request_));
  }
  // How many there are for which the conditions of where hold.
  Result<long long> count() const {
    json request = {{"doctype", request_["doctype"]}};
    if (request_.contains("filters")) request["filters"] = request_["filters"];
    return detail::as<long long>(detail::ask(armature_doc_count, request));
  }

 private:
  Query& add(const char* member, json value) { return request_[member].push_back(std::move(value)), *this; }
  Query& set(const char* member, json value) { return request_[member] = std::move(value), *this; }
  json request_;
};

// ---- Methods, the caller, the configuration, the store ----

// Runs a whitelisted method in the same transaction for the same caller.
template <class T = json>
Result<T> call(std::string_view method, const Document& args = {}) {
  return detail::as<T>(detail::ask(armature_method_call, {{"method", method}, {"args", args.fields}}));
}

// Has a method run once the transaction is committed, and returns the job's id.
inline Result<std::string> enqueue(std::string_view method, const Document& args = {}) {
  auto job = detail::as<Document>(detail::ask(armature_enqueue, {{"method", method}, {"args", args.fields}}));
  if (!job) return job.error();
  return job->text("job");
}

// Who is acting.
struct User {
  std::string name;  // the user's id; "Guest" without credentials
  std::string full_name;
  std::vector<std::string> roles;
};

// The user on whose behalf the method runs.
inline Result<User> caller() {
  auto user = detail::as<Document>(detail::ask(armature_caller_get, json::object()));
  if (!user) return user.error();
  return User{user->text("user"), user->text("full_name"), user->at("roles").get<std::vector<std::string>>()};
}

// Reads a key of the plugin's configuration on this site; null if it is not set.
template <class T = json>
Result<T> config(std::string_view key) {
  return detail::as<T>(detail::ask(armature_config_get, {{"key", key}}));
}

// Reads a key of the plugin's own store on this site; null if it is absent or
// expired. The store is a cache: a key may go at any time.
inline Result<json> load(std::string_view key) { return detail::ask(armature_kv_get, {{"key", key}}); }

// Writes a key; 0 seconds keep it.
inline Result<void> store(std::string_view key, json value, std::chrono::seconds ttl = {}) {
  json request = {{"key", key}, {"value", std::move(value)}};
  if (ttl.count() != 0) request["ttl_s"] = ttl.count();
  return detail::done(detail::ask(armature_kv_set, request));
}

// Removes a key; one that is absent is no error.
inline Result<void> forget(std::string_view key) { return detail::done(detail::ask(armature_kv_delete, {{"key", key}})); }

// ---- HTTP. Bodies are bytes; text is sent as text. ----

struct HttpRequest {
  std::string url;     // https, of a host the manifest allows
  std::string method;  // empty: GET
  std::map<std::string, std::string> headers;
  std::string body;
  std::chrono::milliseconds timeout{};  // 0: the server's
};

// What came back. A status of 400 or more is no error.
struct HttpResponse {
  int status = 0;
  std::map<std::string, std::string> headers;  // names in lower case
  std::string body;
};

// The HTTP request that made the call; no credentials among the headers.
struct IncomingRequest {
  std::string method, path, query;
  std::map<std::string, std::string> headers;  // names in lower case
  std::string body;
};

namespace detail {

inline bool is_utf8(std::string_view s) {
  for (std::size_t i = 0; i < s.size();) {
    const auto byte = [&](std::size_t k) -> unsigned { return i + k < s.size() ? static_cast<unsigned char>(s[i + k]) : 0; };
    const unsigned c = byte(0);
    const std::size_t n = c < 0x80 ? 1 : c < 0xc2 ? 0 : c < 0xe0 ? 2 : c < 0xf0 ? 3 : c < 0xf5 ? 4 : 0;
    if (n == 0) return false;
    for (std::size_t k = 1; k < n; k++)
      if ((byte(k) & 0xc0) != 0x80) return false;
    // Too long a form, half a pair, beyond U+10FFFF.
    if ((c == 0xe0 && byte(1) < 0xa0) || (c == 0xed && byte(1) >= 0xa0) || (c == 0xf0 && byte(1) < 0x90) || (c == 0xf4 && byte(1) >= 0x90)) return false;
    i += n;
  }
  return true;
}

constexpr std::string_view base64_digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

inline std::string base64(std::string_view bytes) {
  std::string out;
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    const std::size_t n = std::min<std::size_t>(3, bytes.size() - i);
    unsigned group = 0;
    for (std::size_t k = 0; k < 3; k++) group = group << 8 | (k < n ? static_cast<unsigned char>(bytes[i + k]) : 0);
    for (std::size_t k = 0; k < 4; k++) out += k <= n ? base64_digits[group >> (18 - 6 * k) & 63] : '=';
  }
  return out;
}

// Decodes what the host sends, which is well-formed.
inline std::string from_base64(std::string_view text) {
  std::string out;
  unsigned group = 0, bits = 0;
  for (const char c : text) {
    const auto digit = base64_digits.find(c);
    if (digit == std::string_view::npos) break;
    group = group << 6 | static_cast<unsigned>(digit);
    if ((bits += 6) >= 8) out += static_cast<char>(group >> (bits -= 8) & 255);
  }
  return out;
}

inline void put_body(json& request, const std::string& body) {
  if (body.empty()) return;
  if (is_utf8(body)) request["body"] = body;
  else request["body_base64"] = base64(body);
}

inline std::string body_of(const Document& d) { return d.has("body_base64") ? from_base64(d.text("body_base64")) : d.text("body"); }

inline std::map<std::string, std::string> headers_of(const Document& d) {
  return d.has("headers") ? d.at("headers").get<std::map<std::string, std::string>>() : std::map<std::string, std::string>();
}

inline json outgoing(const HttpRequest& r) {
  json request = {{"url", r.url}};
  if (!r.method.empty()) request["method"] = r.method;
  if (!r.headers.empty()) request["headers"] = r.headers;
  put_body(request, r.body);
  if (r.timeout.count() != 0) request["timeout_ms"] = r.timeout.count();
  return request;
}

inline Result<HttpResponse> response(Result<json> r) {
  if (!r) return r.error();
  const Document d(std::move(r).value());
  return HttpResponse{static_cast<int>(d.integer("status")), headers_of(d), body_of(d)};
}

}  // namespace detail

// Sends an HTTP request. It is refused once the transaction has begun writing.
inline Result<HttpResponse> fetch(const HttpRequest& request) { return detail::response(detail::ask(armature_http_fetch, detail::outgoing(request))); }

// Whose token a request carries.
enum class As { Caller, App };

// Sends an HTTP request with the token that a Connected App holds for the caller,
// or with the app's own; the plugin never sees it. An error of type
// NotConnectedError or ConnectionBrokenError says that the caller has to connect
// first, or anew.
inline Result<HttpResponse> fetch_connected(std::string_view app, const HttpRequest& request, As as = As::Caller) {
  json r = detail::outgoing(request);
  r["app"] = app;
  if (as == As::App) r["as"] = "app";
  return detail::response(detail::ask(armature_connected_request, r));
}

// The HTTP request that made the call. Kind::NotFound: it did not come by HTTP.
inline Result<IncomingRequest> request() {
  auto r = detail::as<Document>(detail::ask(armature_request_get, json::object()));
  if (!r) return r.error();
  return IncomingRequest{r->text("method"), r->text("path"), r->text("query"), detail::headers_of(*r), detail::body_of(*r)};
}

// Answers that request with a body as it is, instead of the method's result.
inline Result<void> respond(int status, const std::map<std::string, std::string>& headers, const std::string& body) {
  json r = {{"status", status}, {"headers", headers}};
  detail::put_body(r, body);
  return detail::done(detail::ask(armature_respond, r));
}

// ---- Log, clock, randomness ----

enum class Level : int { Debug = 0, Info = 1, Warn = 2, Error = 3 };

// Writes a line to the server's log, with attributes.
inline void log(Level level, std::string_view message, Document attributes = {}) {
  attributes["message"] = message;
  const std::string text = detail::text_of(attributes.fields);
  armature_log(static_cast<int>(level), text.data(), static_cast<int>(text.size()));
}

// A point in time of the host's clock, in microseconds.
using Time = std::chrono::time_point<std::chrono::system_clock, std::chrono::microseconds>;
inline Time now() { return Time(std::chrono::microseconds(armature_now())); }

// Random bytes, fresh in every call.
inline std::vector<std::uint8_t> random(std::size_t n) {
  std::vector<std::uint8_t> bytes(n);
  armature_random(reinterpret_cast<char*>(bytes.data()), static_cast<int>(n));
  return bytes;
}

// ---- A call: its input, its output ----

// The input of an event handler. doc is the document as it is about to be
// written, before the stored one, if there is one. What the handler returns, an
// object of fields, is set in the document.
struct Event {
  std::string event;
  Document doc;
  std::optional<Document> before;
};

inline void from_json(const json& in, Event& e) {
  const Document d(in);
  e = {d.text("event"), d.object("doc"), d.has("before") ? std::optional(d.object("before")) : std::nullopt};
}

namespace detail {

// Until the method has its arguments, what is not of the expected type is the
// client's mistake, after that the plugin's.
inline bool reading_arguments = false;

inline void json_failed(const char* what) {
  if (reading_arguments) raise(Error::invalid("Invalid arguments: " + std::string(what), "FrameworkTypeError"));
  raise({Kind::Internal, what, {}});
}

inline json input(int length) {
  std::string text(static_cast<std::size_t>(length), '\0');
  armature_input(text.data(), length);
  return json::parse(text, nullptr, false);
}

inline void output(const json& v) {
  const std::string text = text_of(v);
  armature_output(text.data(), static_cast<int>(text.size()));
}

template <class T>
struct is_result : std::false_type {};
template <class T>
struct is_result<Result<T>> : std::true_type {};

// What a method returns, as JSON. Nothing is null, which needs no output.
template <class T>
void answer(T&& value) {
  if constexpr (is_result<std::decay_t<T>>::value) {
    if (!value) raise(value.error());
    if constexpr (!std::is_void_v<decltype(value.value())>) output(json(std::forward<T>(value).value()));
  } else {
    output(json(std::forward<T>(value)));
  }
}

template <class R, class... A>
void handle(int length, R (*method)(A...)) {
  static_assert(sizeof...(A) <= 1, "a method takes its arguments as one object, or none");
  if constexpr (sizeof...(A) == 1) {
    using Args = std::decay_t<std::tuple_element_t<0, std::tuple<A...>>>;
    reading_arguments = true;
    auto args = input(length).template get<Args>();
    reading_arguments = false;
    if constexpr (std::is_void_v<R>) method(std::move(args));
    else answer(method(std::move(args)));
  } else if constexpr (std::is_void_v<R>) {
    method();
  } else {
    answer(method());
  }
}

}  // namespace detail
}  // namespace armature

// ARMATURE_METHOD makes a function a method of the plugin, or the handler of an
// event, under the name that armature.json has for its export. It takes nothing,
// or one of Document, json, Event and types with from_json; it returns nothing, or
// what becomes JSON, or a Result of that.
#define ARMATURE_METHOD(path, function) \
  extern "C" ARMATURE_EXPORT(path) void armature_export_##function(int length) { ::armature::detail::handle(length, function); }

#endif
