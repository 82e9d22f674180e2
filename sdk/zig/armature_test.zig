//! Tests of the SDK itself; sdk_test.go runs them.

const std = @import("std");
const armature = @import("armature.zig");

const stub = armature.stub;
const expect = std.testing.expect;
const expectEqual = std.testing.expectEqual;
const expectEqualStrings = std.testing.expectEqualStrings;

test "readers never fail" {
    const d = try armature.decode(armature.Doc,
        \\{"text": "Zo\u00eb \ud83d\ude00", "int": 9007199254740993, "cut": -2.9, "query": "12.5", "whole": "7", "yes": true, "null": null,
        \\ "rows": [{"qty": 3}, {"qty": 4}], "huge": 1e300, "no": "12 or so", "big": 123456789012345678901234567890}
    );
    try expectEqualStrings("Zoë 😀", d.text("text"));
    try expectEqualStrings("", d.text("int"));
    try expectEqual(@as(i64, 9007199254740993), d.int("int"));
    try expectEqual(@as(i64, -2), d.int("cut"));
    try expectEqual(@as(i64, 12), d.int("query"));
    try expectEqual(@as(i64, 7), d.int("whole"));
    try expectEqual(@as(f64, 12.5), d.float("query"));
    for ([_][]const u8{ "huge", "no", "missing", "text", "rows", "big" }) |member| try expectEqual(@as(i64, 0), d.int(member));
    try expect(d.flag("yes") and !d.flag("missing") and !d.has("null") and d.has("rows"));
    try expectEqual(@as(i64, 4), d.rows("rows")[1].int("qty"));
    try expectEqual(@as(usize, 0), d.rows("text").len);
    try expectEqual(@as(usize, 0), d.doc("text").map.count());
    try expect((armature.decode(armature.Doc, "[1]") catch null) == null);
}

test "JSON survives" {
    for ([_][]const u8{
        \\{"a":[1,-2,true,false,null,{}],"é":"日本 😀","b":[]}
        ,
        \\{"n":9007199254740991,"big":123456789012345678901234567890}
        ,
        \\{"q":"\"\\\n\u0001"}
    }) |text| {
        const d = try armature.decode(armature.Doc, text);
        try expectEqualStrings(text, armature.encode(d));
    }
}

const Task = struct { name: []const u8, priority: i32 = 3 };

test "queries" {
    stub.reset();
    stub.answer("doc_list", .{ .{ .name = "T1", .priority = 1, .more = true }, .{ .name = "T2" } });
    const base = armature.from("Task").field("name").field("priority").eq("a", 1);
    const rows = try base.ne("b", "x").lt("c", 2).gt("d", null).like("e", "%f%").anyOf("g", .{ "h", 1 })
        .orWhere("i", ">=", 7).groupBy("j").orderBy("k desc").start(5).limit(6).listAs(Task);
    try expectEqualStrings("T1", rows[0].name);
    try expectEqual(@as(i32, 3), rows[1].priority);
    try expectEqualStrings(
        \\{"doctype":"Task","fields":["name","priority"],"filters":[["a","=",1],["b","!=","x"],["c","<",2],["d",">",null],["e","like","%f%"],["g","in",["h",1]]],"or_filters":[["i",">=",7]],"order_by":"k desc","group_by":"j","limit_start":5,"limit_page_length":6}
    , stub.asked("doc_list").?);
    stub.answer("doc_count", 2);
    try expectEqual(@as(i64, 2), try base.count());
    try stub.expectAsked("doc_count", .{ .doctype = "Task", .filters = .{.{ "a", "=", 1 }} });
}

test "errors have a kind, a type and a message" {
    stub.reset();
    stub.refuse("doc_get", .validation, "DueDateError", "grüß \"dich\"");
    try std.testing.expectError(error.Validation, armature.get("ToDo", "T1"));
    try expectEqual(armature.Kind.validation, armature.failure().kind);
    try expectEqualStrings("DueDateError", armature.failure().exc_type);
    try expectEqualStrings("grüß \"dich\"", armature.failure().message);
    try expectEqual(@as(anyerror, error.Conflict), armature.fail(.conflict, "", "{d} times", .{2}));
    try expectEqualStrings("2 times", armature.failure().message);
    for (1..18) |n| {
        const kind = armature.Kind.of(@intCast(n));
        try expectEqual(@as(i32, @intCast(n)), @intFromEnum(kind));
        try expectEqual(kind, armature.kindOf(armature.errorOf(kind)));
    }
    try expectEqual(armature.Kind.internal, armature.Kind.of(99));
    try expectEqual(armature.Kind.internal, armature.kindOf(error.OutOfMemory));
}

test "an answer that does not fit is an error" {
    stub.reset();
    stub.answer("doc_get", .{ .name = 12 });
    try std.testing.expectError(error.Internal, armature.getAs(Task, "Task", "T1"));
    try expect(std.mem.indexOf(u8, armature.failure().message, "Task") != null);
}

test "answers and errors longer than a buffer" {
    stub.reset();
    const long = [_]u8{'x'} ** 10000;
    stub.answer("kv_get", &long);
    try expectEqualStrings(&long, (try armature.load(?[]const u8, "k")).?);
    stub.refuse("kv_get", .too_large, "", &long);
    try std.testing.expectError(error.TooLarge, armature.load(?[]const u8, "k"));
    try expectEqualStrings(&long, armature.failure().message);
    try expect((try armature.load(?[]const u8, "k")) == null);
}

test "documents" {
    stub.reset();
    try expectEqualStrings("", (try armature.insert("Task", .{ .subject = "x" })).name());
    try stub.expectAsked("doc_insert", .{ .doc = .{ .subject = "x", .doctype = "Task" } });
    try armature.delete("Task", "T1");
    try stub.expectAsked("doc_delete", .{ .doctype = "Task", .name = "T1" });
    stub.answer("doc_submit", .{ .docstatus = 1 });
    try expectEqual(@as(i64, 1), (try armature.submit("Task", "T1")).int("docstatus"));
}

test "HTTP" {
    stub.reset();
    const bytes = "\xff\x00\x01 b";
    stub.answer("http_fetch", .{ .status = 404, .headers = .{ .@"content-type" = "text/plain" }, .body_base64 = "/wABIGI=" });
    const answer = try armature.fetch(.{ .url = "https://x", .method = "POST", .headers = .{ .a = "b" }, .body = bytes, .timeout = 2000 });
    try expectEqual(@as(u16, 404), answer.status);
    try expectEqualStrings(bytes, answer.body);
    try expectEqualStrings("text/plain", answer.headers.text("content-type"));
    try stub.expectAsked("http_fetch", .{ .url = "https://x", .method = "POST", .headers = .{ .a = "b" }, .body_base64 = "/wABIGI=", .timeout_ms = 2000 });
    _ = try armature.fetch(.{ .url = "https://x", .headers = armature.Doc.of(.{ .b = "c" }) });
    try stub.expectAsked("http_fetch", .{ .url = "https://x", .headers = .{ .b = "c" } });
    stub.answer("connected_request", .{ .status = 200, .body = "é" });
    try expectEqualStrings("é", (try armature.fetchConnected("App", .app, .{ .url = "https://y" })).body);
    try stub.expectAsked("connected_request", .{ .url = "https://y", .app = "App", .as = "app" });
    try armature.respond(201, .{ .@"x-a" = "b" }, "é");
    try stub.expectAsked("respond", .{ .status = 201, .headers = .{ .@"x-a" = "b" }, .body = "é" });
}

test "the rest" {
    stub.reset();
    stub.answer("method_call", 12);
    try expectEqual(@as(i64, 12), try armature.call(i64, "a.b.c", .{ .x = 1 }));
    try stub.expectAsked("method_call", .{ .method = "a.b.c", .args = .{ .x = 1 } });
    stub.answer("enqueue", .{ .job = "j1" });
    try expectEqualStrings("j1", try armature.enqueue("a.b.c", .{}));
    try expectEqualStrings("{\"method\":\"a.b.c\",\"args\":{}}", stub.asked("enqueue").?);
    stub.answer("caller_get", .{ .user = "zoe@example.com", .roles = .{"All"}, .more = 1 });
    try expectEqualStrings("All", (try armature.caller()).roles[0]);
    try expectEqualStrings("{}", stub.asked("caller_get").?);
    try armature.store("k", .{ 1, "zwei" }, 60);
    try stub.expectAsked("kv_set", .{ .key = "k", .value = .{ 1, "zwei" }, .ttl_s = 60 });
    stub.answer("config_get", 5);
    try expectEqual(@as(?i64, 5), try armature.config(?i64, "limit"));
    armature.log(.warn, "slow", .{ .n = 3 });
    try expectEqualStrings("{\"n\":3,\"message\":\"slow\"}", stub.logged());
    stub.setNow(1234567);
    try expectEqual(@as(i64, 1234567), armature.now());
    var random: [2]u8 = undefined;
    armature.random(&random);
    try expectEqual([2]u8{ 7, 7 }, random);
}
