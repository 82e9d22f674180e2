//! Tests of the SDK: armature plugin test.

const std = @import("std");
const armature = @import("armature");

const testing = armature.testing;
const expect = testing.expect;
const expectText = testing.expectText;

pub const panic = armature.panic;

fn expectEqual(want: anytype, got: @TypeOf(want)) void {
    expect(std.meta.eql(want, got));
}

export fn @"test.readers_never_fail"(_: usize) void {
    const d = testing.must(armature.decode(armature.Doc,
        \\{"text": "Zo\u00eb \ud83d\ude00", "int": 9007199254740993, "cut": -2.9, "query": "12.5", "whole": "7", "yes": true, "null": null,
        \\ "rows": [{"qty": 3}, {"qty": 4}], "huge": 1e300, "no": "12 or so", "big": 123456789012345678901234567890}
    ));
    expectText("Zoë 😀", d.text("text"));
    expectText("", d.text("int"));
    expectEqual(@as(i64, 9007199254740993), d.int("int"));
    expectEqual(@as(i64, -2), d.int("cut"));
    expectEqual(@as(i64, 12), d.int("query"));
    expectEqual(@as(i64, 7), d.int("whole"));
    expectEqual(@as(f64, 12.5), d.float("query"));
    for ([_][]const u8{ "huge", "no", "missing", "text", "rows", "big" }) |member| expectEqual(@as(i64, 0), d.int(member));
    expect(d.flag("yes") and !d.flag("missing") and !d.has("null") and d.has("rows"));
    expectEqual(@as(i64, 4), d.rows("rows")[1].int("qty"));
    expectEqual(@as(usize, 0), d.rows("text").len);
    expectEqual(@as(usize, 0), d.doc("text").map.count());
    expect((armature.decode(armature.Doc, "[1]") catch null) == null);
}

export fn @"test.json_survives"(_: usize) void {
    for ([_][]const u8{
        \\{"a":[1,-2,true,false,null,{}],"é":"日本 😀","b":[]}
        ,
        \\{"n":9007199254740991,"big":123456789012345678901234567890}
        ,
        \\{"q":"\"\\\n\u0001"}
    }) |text| {
        expectText(text, armature.encode(testing.must(armature.decode(armature.Doc, text))));
    }
}

const Task = struct { name: []const u8, priority: []const u8 = "none" };

fn task(description: []const u8, priority: []const u8) armature.Doc {
    return testing.must(armature.insert("ToDo", .{ .description = description, .priority = priority }));
}

export fn @"test.queries"(_: usize) void {
    const first = task("task 1", "High");
    _ = task("task 2", "Low");
    _ = task("task 3", "Low");
    const base = armature.from("ToDo").field("name").field("priority").like("description", "task%").orderBy("creation asc");
    const rows = testing.must(base.listAs(Task));
    expectText(first.name(), rows[0].name);
    expectText("High", rows[0].priority);
    expectEqual(@as(i64, 2), testing.must(base.eq("priority", "Low").count()));
    expectEqual(@as(usize, 1), testing.must(base.ne("priority", "Low").list()).len);
    expectEqual(@as(i64, 1), testing.must(base.anyOf("priority", .{ "High", "Medium" }).count()));
    expectEqual(@as(usize, 1), testing.must(base.start(1).limit(1).list()).len);
    const either = armature.from("ToDo").orWhere("priority", "=", "High").orWhere("priority", "=", "Low").all();
    expectEqual(@as(usize, 3), testing.must(either.list()).len);
    testing.expect((armature.from("ToDo").eq("nothing", 1).list() catch null) == null);
    expectText("DataError", armature.failure().exc_type);
}

export fn @"test.errors_have_a_kind_a_type_and_a_message"(_: usize) void {
    expectText("2 times", blk: {
        expect(armature.fail(.conflict, "", "{d} times", .{2}) == error.Conflict);
        break :blk armature.failure().message;
    });
    for (1..18) |n| {
        const kind = armature.Kind.of(@intCast(n));
        expectEqual(@as(i32, @intCast(n)), @intFromEnum(kind));
        expectEqual(kind, armature.kindOf(armature.errorOf(kind)));
    }
    expectEqual(armature.Kind.internal, armature.Kind.of(99));
    expectEqual(armature.Kind.internal, armature.kindOf(error.OutOfMemory));
    testing.expectError(.validation, "grüß \"dich\"", testing.call(void, "acme.check.refuse", .{}));
    expectText("DueDateError", armature.failure().exc_type);
}

export fn @"test.an_answer_that_does_not_fit"(_: usize) void {
    const Wrong = struct { description: i64 };
    expect((armature.getAs(Wrong, "ToDo", task("text", "Low").name()) catch null) == null);
    expectEqual(armature.Kind.internal, armature.failure().kind);
}

export fn @"test.longer_than_a_buffer"(_: usize) void {
    const long = [_]u8{'x'} ** 10000;
    testing.must(armature.store("k", &long, 60));
    expectText(&long, testing.must(armature.load(?[]const u8, "k")).?);
    expect((armature.get("ToDo", &long) catch null) == null);
    expect(armature.failure().message.len > 10000);
    testing.must(armature.forget("k"));
    expect(testing.must(armature.load(?[]const u8, "k")) == null);
}

export fn @"test.http"(_: usize) void {
    const bytes = "\xff\x00\x01 b";
    testing.answerTo(.{ .url = "https://x.example/", .status = 404, .headers = .{ .@"content-type" = "text/plain" }, .body_base64 = "/wABIGI=" });
    const answer = testing.must(armature.fetch(.{ .url = "https://x.example/", .method = "POST", .headers = .{ .a = "b" }, .body = bytes, .timeout = 2000 }));
    expectEqual(@as(u16, 404), answer.status);
    expectText(bytes, answer.body);
    expectText("text/plain", answer.headers.text("content-type"));
    const sent = testing.fetched()[0];
    expectText("/wABIGI=", sent.text("body_base64"));
    expectText("b", sent.doc("headers").text("a"));
    const reply = armature.Doc.fromValue(testing.must(testing.send(.{ .method = "acme.check.answer" })).reply);
    expectEqual(@as(i64, 201), reply.int("status"));
    expectText("é", reply.text("body"));
}

export fn @"test.the_rest"(_: usize) void {
    expectText("Administrator", testing.must(armature.caller()).user);
    testing.actAs("zoe@example.com", &.{"Blogger"});
    expectText("zoe@example.com", testing.must(armature.caller()).user);
    expectEqual(@as(?i64, null), testing.must(armature.config(?i64, "limit")));
    testing.configure("limit", 5);
    expectEqual(@as(?i64, 5), testing.must(armature.config(?i64, "limit")));
    testing.setClock(1234567);
    expectEqual(@as(i64, 1234567), armature.now());
    var first: [2]u8 = undefined;
    var second: [2]u8 = undefined;
    testing.setSeed(1);
    armature.random(&first);
    testing.setSeed(1);
    armature.random(&second);
    expectEqual(first, second);
}
