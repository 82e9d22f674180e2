// The todo plugin in C++: four methods over the ToDo DocType.
#include "armature.hpp"

using armature::Document, armature::json, armature::Query, armature::Result;

// Sets a ToDo's status to Closed and returns the document.
Result<Document> close_todo(const Document& args) {
  auto todo = armature::get("ToDo", args.text("name"));
  if (!todo || todo->text("status") == "Closed") return todo;
  return armature::update("ToDo", args.text("name"), {{"status", "Closed"}});
}
ARMATURE_METHOD("acme.todo.close", close_todo)

// Returns a ToDo as the caller may see it.
Result<Document> show(const Document& args) { return armature::get("ToDo", args.text("name")); }
ARMATURE_METHOD("acme.todo.show", show)

// A row of a list, as a type of the plugin's.
struct Row {
  std::string status;
};
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Row, status)

// Counts the caller's ToDos by status.
Document summary() {
  std::map<std::string, int> by;
  for (const auto& row : Query("ToDo").field("status").all().list<Row>().value()) by[row.status]++;
  return {
      {"user", armature::caller()->name},
      {"total", Query("ToDo").count().value()},
      {"by_status", by},
  };
}
ARMATURE_METHOD("acme.todo.summary", summary)

// Returns its arguments.
Document echo(Document args) { return args; }
ARMATURE_METHOD("acme.todo.echo", echo)
