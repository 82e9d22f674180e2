// A stand-in for the server, for tests of plugins that run as native programs:
//
//   #include "todo.cpp"
//
//   #include "stubhost.hpp"
//
//   int main() {
//     stub::answer("doc_get", {{"name", "T1"}, {"status", "Open"}});
//     stub::answer("doc_update", {{"name", "T1"}, {"status", "Closed"}});
//     STUB_EXPECT(stub::call(close_todo, {{"name", "T1"}})->at("status"), "Closed");
//     STUB_EXPECT(stub::asked("doc_update")["doc"], json({{"status", "Closed"}}));
//     return stub::failures();
//   }
//
// A test says beforehand what each function of the host answers, in order; what
// it does not say is answered by null, and everything asked can be looked at. The
// stub knows no DocTypes and no permissions.
#ifndef ARMATURE_STUBHOST_HPP
#define ARMATURE_STUBHOST_HPP

#include <cstdio>
#include <cstring>

#include "armature.hpp"

namespace armature::stub {

struct Host {
  std::map<std::string, std::vector<std::variant<json, Error>>> staged;
  std::vector<std::pair<std::string, json>> asked;
  std::vector<json> logged;
  std::string input, output, rest;
  long long now = 0;
  int failures = 0;
};

inline Host host;

// Stages what a function of the host, such as "doc_get", answers next.
inline void answer(const std::string& name, json value) { host.staged[name].push_back(std::move(value)); }

// Stages an error.
inline void refuse(const std::string& name, Error error) { host.staged[name].push_back(std::move(error)); }

// The latest request to a function of the host in the last call; null if there
// was none.
inline json asked(const std::string& name) {
  for (auto i = host.asked.rbegin(); i != host.asked.rend(); ++i)
    if (i->first == name) return i->second;
  return nullptr;
}

// The lines logged in the last call: text, or objects with message and attributes.
inline const std::vector<json>& logged() { return host.logged; }

// Sets the clock.
inline void set_now(Time now) { host.now = now.time_since_epoch().count(); }

// Runs a method as the server does: its result, or the error it ends with.
template <class R, class... A>
Result<json> call(R (*method)(A...), const Document& args = {}) {
  host.input = args.fields.dump(), host.output = "null";
  host.asked.clear(), host.logged.clear();
  std::optional<Error> thrown;
  try {
    detail::handle(static_cast<int>(host.input.size()), method);
  } catch (const Error& error) {
    thrown = error;
  }
  host.staged.clear();
  detail::reading_arguments = false;
  if (thrown) return *thrown;
  return json::parse(host.output);
}

// Compares two values and counts a failure.
#define STUB_EXPECT(got, want) ::armature::stub::expect(__FILE__, __LINE__, got, want)
inline void expect(const char* file, int line, const json& got, const json& want) {
  if (got == want) return;
  std::fprintf(stderr, "%s:%d: got %s\n  want %s\n", file, line, got.dump().c_str(), want.dump().c_str());
  host.failures++;
}

// Compares the error a call ended with; one that ended well fails.
#define STUB_EXPECT_ERROR(result, kind, message) ::armature::stub::expect_error(__FILE__, __LINE__, result, kind, message)
template <class T>
void expect_error(const char* file, int line, const Result<T>& result, Kind kind, const std::string& message) {
  const auto shown = [](Kind kind, const std::string& text) { return json{{"kind", static_cast<int>(kind)}, {"message", text}}; };
  if (result) expect(file, line, "no error", shown(kind, message));
  else expect(file, line, shown(result.error().kind, result.error().message), shown(kind, message));
}

// How many expectations failed: the status of main.
inline int failures() { return host.failures; }

inline int deliver(const std::string& text, char* p, int cap) {
  std::memcpy(p, text.data(), std::min(text.size(), static_cast<std::size_t>(cap)));
  return static_cast<int>(text.size());
}

inline int capability(const char* name, const char* in, int in_len, char* out, int out_cap) {
  host.asked.emplace_back(name, json::parse(std::string(in, static_cast<std::size_t>(in_len))));
  std::variant<json, Error> staged = json();
  if (auto& queue = host.staged[name]; !queue.empty()) {
    staged = std::move(queue.front());
    queue.erase(queue.begin());
  }
  if (const auto* error = std::get_if<Error>(&staged)) {
    host.rest = json{{"exc_type", error->type}, {"message", error->message}}.dump();
    return -static_cast<int>(error->kind);
  }
  host.rest = std::get<json>(staged).dump();
  const int length = deliver(host.rest, out, out_cap);
  host.rest.erase(0, static_cast<std::size_t>(out_cap));
  return length;
}

}  // namespace armature::stub

namespace stub = armature::stub;

extern "C" {
inline int armature_input(char* p, int cap) { return stub::deliver(stub::host.input, p, cap); }
inline void armature_output(const char* p, int len) { stub::host.output.assign(p, static_cast<std::size_t>(len)); }
inline void armature_throw(int kind, const char* p, int len) {
  const armature::Document body(armature::json::parse(std::string(p, static_cast<std::size_t>(len))));
  throw armature::Error{armature::kind_of(kind), body.text("message"), body.text("exc_type")};
}
inline int armature_take(char* p, int cap) {
  const int left = stub::deliver(stub::host.rest, p, cap);
  stub::host.rest.erase(0, static_cast<std::size_t>(cap));
  return left;
}
inline void armature_log(int, const char* p, int len) {
  const std::string text(p, static_cast<std::size_t>(len));
  const auto line = armature::json::parse(text, nullptr, false);
  stub::host.logged.push_back(line.is_object() ? line : armature::json(text));
}
inline long long armature_now() { return stub::host.now; }
inline void armature_random(char* p, int len) { std::memset(p, 7, static_cast<std::size_t>(len)); }

#define STUB_CAPABILITY(name) \
  inline int armature_##name(const char* in, int in_len, char* out, int out_cap) { return stub::capability(#name, in, in_len, out, out_cap); }
STUB_CAPABILITY(doc_get)
STUB_CAPABILITY(doc_list)
STUB_CAPABILITY(doc_count)
STUB_CAPABILITY(doc_insert)
STUB_CAPABILITY(doc_update)
STUB_CAPABILITY(doc_delete)
STUB_CAPABILITY(doc_submit)
STUB_CAPABILITY(doc_cancel)
STUB_CAPABILITY(method_call)
STUB_CAPABILITY(caller_get)
STUB_CAPABILITY(config_get)
STUB_CAPABILITY(kv_get)
STUB_CAPABILITY(kv_set)
STUB_CAPABILITY(kv_delete)
STUB_CAPABILITY(http_fetch)
STUB_CAPABILITY(connected_request)
STUB_CAPABILITY(request_get)
STUB_CAPABILITY(respond)
STUB_CAPABILITY(enqueue)
#undef STUB_CAPABILITY
}

#endif
