// The todo plugin in C: four methods over the ToDo DocType.
#include "armature.h"

// close sets a ToDo's status to Closed and returns the document.
AM_METHOD("acme.todo.close", close_todo) {
  am_str name = am_get_text(in, "name");
  am_val todo = am_must(am_doc_get("ToDo", name));
  if (am_is(am_get_text(todo, "status"), "Closed")) return todo;
  am_json changes = am_object();
  am_set_text(&changes, "status", AM("Closed"));
  return am_must(am_doc_update("ToDo", name, am_done(&changes)));
}

// show returns a ToDo as the caller may see it.
AM_METHOD("acme.todo.show", show) { return am_must(am_doc_get("ToDo", am_get_text(in, "name"))); }

// summary counts the caller's ToDos by status.
AM_METHOD("acme.todo.summary", summary) {
  enum { most = 16 }; // ToDo has three statuses
  struct {
    am_str status;
    int n;
  } counts[most];
  int used = 0;

  am_query all = am_from("ToDo"), rows = am_from("ToDo");
  am_val user = am_must(am_caller()), total = am_must(am_count(&all));
  am_field(&rows, "status");
  rows.limit = AM_ALL;
  for (am_iter i = am_items(am_must(am_list(&rows))); am_next(&i);) {
    am_str status = am_get_text(i.value, "status");
    int at = 0;
    while (at < used && !am_same(counts[at].status, status)) at++;
    if (at == most) am_throw(AM_INTERNAL, 0, AM("ToDo has more statuses than expected"));
    if (at == used) counts[used].status = status, counts[used++].n = 0;
    counts[at].n++;
  }

  am_json by = am_object(), out = am_object();
  for (int i = 0; i < used; i++) am_set_key_int(&by, counts[i].status, counts[i].n);
  am_set(&out, "user", am_get(user, "user"));
  am_set(&out, "total", total);
  am_set(&out, "by_status", am_done(&by));
  return am_done(&out);
}

// echo returns its arguments.
AM_METHOD("acme.todo.echo", echo) { return in; }
