// What the tests of the SDK call.
#include "armature.hpp"

using namespace armature;

struct Task {
  std::string priority;
};
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE_WITH_DEFAULT(Task, priority)

static std::string typed(const Task& task) { return task.priority; }
static void nothing() {}
static Result<void> refused() { return Error::denied("no", "ShutError"); }
static std::string mistaken(const json& args) { return args.at("missing").get<std::string>(); }

static Document named(const Event& e) {
  return {{"description", e.doc.text("description") + (e.before ? ": known as " + e.before->name() : ": new")}};
}

static Result<void> relay(const Document& args) {
  const auto answer = fetch({.url = args.text("url")});
  if (!answer) return answer.error();
  return respond(answer->status, {{"x-a", "b"}}, answer->body);
}

ARMATURE_METHOD("acme.check.typed", typed)
ARMATURE_METHOD("acme.check.nothing", nothing)
ARMATURE_METHOD("acme.check.refused", refused)
ARMATURE_METHOD("acme.check.mistaken", mistaken)
ARMATURE_METHOD("acme.check.relay", relay)
ARMATURE_METHOD("named", named)
