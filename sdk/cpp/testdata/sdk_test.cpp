// Tests of armature.hpp: armature plugin test.
#include "armature_test.hpp"

using namespace armature;

struct Task {
  std::string name;
  std::string priority = "none";
};
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE_WITH_DEFAULT(Task, name, priority)

ARMATURE_TEST(readers) {
  const Document d(json::parse(R"({"text": "Zoë", "int": 9007199254740993, "cut": -2.9, "query": "12.5", "yes": true, "null": null,
    "rows": [{"qty": 3}, {"qty": 4}], "huge": 1e300, "no": "12 or so"})"));
  EXPECT_EQUAL(d.text("text"), "Zoë");
  EXPECT_EQUAL(d.text("int"), "");
  EXPECT_EQUAL(d.integer("int"), 9007199254740993);
  EXPECT_EQUAL(d.integer("cut"), -2);
  EXPECT_EQUAL(d.integer("query"), 12);
  EXPECT_EQUAL(d.number("query"), 12.5);
  EXPECT_EQUAL(d.integer("huge"), 0);
  EXPECT_EQUAL(d.integer("no"), 0);
  EXPECT_EQUAL(d.integer("missing"), 0);
  EXPECT_EQUAL(d.flag("yes"), true);
  EXPECT_EQUAL(d.flag("missing"), false);
  EXPECT_EQUAL(d.has("null"), false);
  EXPECT_EQUAL(d.rows("rows").at(1).integer("qty"), 4);
  EXPECT_EQUAL(d.rows("text").size(), 0);
  EXPECT_EQUAL(d.object("text").fields, json::object());
  EXPECT_EQUAL(Document(json::array({1})).fields, json::object());
  EXPECT_EQUAL(Document().fields, json::object());
  EXPECT_EQUAL((Document{{"a", 1}}.set("b", json::array()).fields), (json{{"a", 1}, {"b", json::array()}}));
}

ARMATURE_TEST(queries) {
  for (int i = 0; i < 3; i++) insert("ToDo", {{"description", "task " + std::to_string(i)}, {"priority", i ? "Low" : "High"}}).value();
  const Query all = Query("ToDo").fields({"name", "priority"}).like("description", "task%").order_by("creation asc");
  EXPECT_EQUAL(all.list<Task>()->at(0).priority, "High");
  EXPECT_EQUAL(Query(all).eq("priority", "Low").list()->size(), 2);
  EXPECT_EQUAL(Query(all).ne("priority", "Low").list()->size(), 1);
  EXPECT_EQUAL(Query(all).any_of("priority", {"High", "Medium"}).count().value(), 1);
  EXPECT_EQUAL(Query(all).start(1).limit(1).list()->size(), 1);
  EXPECT_EQUAL(Query("ToDo").or_where("priority", "=", "High").or_where("priority", "=", "Low").all().list<json>()->size(), 3);
  EXPECT_EQUAL(Query("ToDo").eq("nothing", 1).list().error().type, "DataError");
}

ARMATURE_TEST(handling) {
  EXPECT_EQUAL(testing::call("acme.check.typed", {{"priority", "5"}}).value(), "5");
  const auto wrong = testing::call("acme.check.typed", {{"priority", 5}});
  EXPECT_EQUAL(wrong ? "" : wrong.error().type, "FrameworkTypeError");
  EXPECT(testing::call("acme.check.mistaken").error().kind == Kind::Internal);
  EXPECT_EQUAL(testing::call("acme.check.nothing").value(), nullptr);
  EXPECT_ERROR(testing::call("acme.check.refused"), Kind::Permission, "no");
  const Result<Document> kept = Document{{"a", 1}};
  EXPECT_EQUAL(kept->integer("a") + (*kept).integer("a"), 2);
  EXPECT(kind_of(99) == Kind::Internal);
}

ARMATURE_TEST(events) {
  const Document made = insert("ToDo", {{"description", "x"}}).value();
  EXPECT_EQUAL(made.text("description"), "x: new");
  EXPECT_EQUAL(update("ToDo", made.name(), {{"description", "y"}})->text("description"), "y: known as " + made.name());
}

ARMATURE_TEST(http) {
  const std::string bytes("\xff\x00\x01 b", 5);
  testing::answer("https://x.example/", {404, {{"content-type", "text/plain"}}, bytes});
  const auto answer = fetch({.url = "https://x.example/", .method = "POST", .headers = {{"a", "b"}}, .body = bytes, .timeout = std::chrono::seconds(2)}).value();
  EXPECT(answer.status == 404 && answer.body == bytes && answer.headers.at("content-type") == "text/plain");
  const auto sent = testing::fetched().at(0);
  EXPECT_EQUAL(sent.object("headers").text("a"), "b");
  EXPECT_EQUAL(sent.text("body_base64"), "/wABIGI=");
  testing::answer("https://x.example/", {201, {}, "é"});
  const auto reply = testing::send({{"method", "acme.check.relay"}, {"args", {{"url", "https://x.example/"}}}})->reply;
  EXPECT(reply.integer("status") == 201 && reply.text("body") == "é");
  for (const char* text : {"", "a", "é€😀", "\xf4\x8f\xbf\xbf"}) EXPECT_EQUAL(detail::is_utf8(text), true);
  for (const char* text : {"\x80", "\xc3", "\xc0\xaf", "\xe0\x80\xaf", "\xed\xa0\x80", "\xf4\x90\x80\x80", "\xf5\x80\x80\x80", "a\xe2\x82"})
    EXPECT_EQUAL(detail::is_utf8(text), false);
}

ARMATURE_TEST(others) {
  testing::set_clock(Time(std::chrono::microseconds(1234567)));
  EXPECT_EQUAL(now().time_since_epoch().count(), 1234567);
  EXPECT_EQUAL(config<int>("limit").value_or(7), 7);
  testing::configure("limit", 5);
  EXPECT_EQUAL(config<int>("limit").value(), 5);
  store("k", std::string(10000, 'x'), std::chrono::minutes(1)).value();  // longer than the buffer
  EXPECT_EQUAL(load("k").value(), std::string(10000, 'x'));
  forget("k").value();
  EXPECT_EQUAL(load("k").value(), nullptr);
  testing::set_seed(1);
  const auto first = random(3);
  testing::set_seed(1);
  EXPECT(random(3) == first);
  EXPECT(random(3) != first);
  testing::act_as("zoe@example.com", {"Blogger"});
  const User zoe = caller().value();
  EXPECT_EQUAL(zoe.name, "zoe@example.com");
  EXPECT(std::find(zoe.roles.begin(), zoe.roles.end(), "Blogger") != zoe.roles.end());
  testing::act_as("Guest");
  EXPECT(get("User", "Administrator").error().kind == Kind::Permission);
  testing::act_as("Administrator");
  EXPECT_EQUAL(call<std::string>("acme.check.typed", {{"priority", "9"}}).value(), "9");
}
