//! The methods of the conformance plugin, as ../../README.md describes them.

const std = @import("std");
const armature = @import("armature");

const Doc = armature.Doc;
const Value = armature.Value;

pub fn echo(args: Doc) Doc {
    return args;
}

const Given = struct {
    text: []const u8,
    count: i64,
    ratio: f64,
    flag: bool,
    list: []const i64,
    inner: struct { text: []const u8 },
    absent: ?Value = null,
};

const Answers = struct { text: []const u8, count: i64, ratio: f64, flag: bool, sum: i64, inner: []const u8, absent: bool };

pub fn arguments(args: Given) Answers {
    var sum: i64 = 0;
    for (args.list) |n| sum += n;
    return .{
        .text = armature.print("{s}!", .{args.text}),
        .count = args.count + 1,
        .ratio = args.ratio / 2,
        .flag = !args.flag,
        .sum = sum,
        .inner = args.inner.text,
        .absent = args.absent == null,
    };
}

const Found = struct { count: i64, descriptions: []const []const u8 };

pub fn find(args: struct { status: []const u8, limit: u64 }) !Found {
    const with_status = armature.from("ToDo").eq("status", args.status);
    const rows = try with_status.field("name").field("description")
        .anyOf("priority", .{ "High", "Medium" }).orderBy("description asc").limit(args.limit).list();
    const descriptions = try armature.allocator.alloc([]const u8, rows.len);
    for (rows, descriptions) |row, *description| description.* = row.text("description");
    return .{ .count = try with_status.count(), .descriptions = descriptions };
}

pub fn transfer(args: struct { text: []const u8, name: []const u8, fail: bool }) !Doc {
    const made = try armature.insert("ToDo", .{ .description = args.text });
    const closed = try armature.update("ToDo", args.name, .{ .status = "Closed" });
    if (args.fail) return armature.fail(.validation, "TransferError", "fail was asked for", .{});
    return Doc.of(.{ .made = made.name(), .closed = closed.text("status") });
}

pub fn order(args: Doc) !Doc {
    const doctype = "Conformance Order";
    const inserted = try armature.insert(doctype, .{
        .title = args.text("title"),
        .items = .{ .{ .item = "a", .qty = 3 }, .{ .item = "b", .qty = 4 } },
    });
    const name = inserted.name();
    const submitted = try armature.submit(doctype, name);
    const cancelled = try armature.cancel(doctype, name);
    try armature.delete(doctype, name);
    var gone: i32 = 0;
    _ = armature.get(doctype, name) catch |err| {
        gone = @intFromEnum(armature.kindOf(err));
    };
    var qty: i64 = 0;
    for (inserted.rows("items")) |row| qty += row.int("qty");
    return Doc.of(.{
        .inserted = inserted.int("docstatus"),
        .submitted = submitted.int("docstatus"),
        .cancelled = cancelled.int("docstatus"),
        .items = inserted.rows("items").len,
        .qty = qty,
        .gone = gone,
    });
}

const Key = struct { doctype: []const u8, name: []const u8 };

pub fn show(args: Key) !armature.Raw {
    return armature.getAs(armature.Raw, args.doctype, args.name);
}

pub fn close(args: struct { name: []const u8 }) !Doc {
    return armature.update("ToDo", args.name, .{ .status = "Closed" });
}

pub fn check(event: armature.Event(Doc)) !Doc {
    const doc = event.doc;
    if (doc.is("description", "refuse me")) return armature.fail(.validation, "RefusedError", "The guest refuses this", .{});
    if (event.before) |before| {
        if (before.is("status", "Closed") and doc.is("status", "Open"))
            return armature.fail(.validation, "ReopenError", "What is closed stays closed", .{});
    } else if (std.mem.startsWith(u8, doc.text("description"), "urgent")) {
        return Doc.of(.{ .priority = "High" });
    }
    return Doc.init();
}

fn caught() Doc {
    const failure = armature.failure();
    return Doc.of(.{ .kind = @intFromEnum(failure.kind), .type = failure.exc_type, .message = failure.message });
}

pub fn attempt(args: Key) Doc {
    const doc = armature.get(args.doctype, args.name) catch return caught();
    return Doc.of(.{ .kind = 0, .name = doc.name() });
}

pub fn raise(args: struct { kind: i64, type: []const u8, message: []const u8 }) !void {
    return armature.fail(armature.Kind.of(args.kind), args.type, "{s}", .{args.message});
}

pub fn crash() void {
    @panic("crash was asked for");
}

var calls: i32 = 0;

pub fn tally() struct { n: i32 } {
    calls += 1;
    return .{ .n = calls };
}

pub fn relay(args: Doc) Doc {
    const result = armature.call(Value, args.text("method"), args.doc("args")) catch return caught();
    return Doc.of(.{ .kind = 0, .result = result });
}

pub fn who() !armature.User {
    return armature.caller();
}

pub fn setting(args: Doc) !Value {
    return armature.config(Value, args.text("key"));
}

pub fn keep(args: struct { key: []const u8, value: Value, ttl: u64 }) !Value {
    try armature.store(args.key, args.value, args.ttl);
    return armature.load(Value, args.key);
}

pub fn recall(args: Doc) !Value {
    return armature.load(Value, args.text("key"));
}

pub fn forget(args: Doc) !void {
    return armature.forget(args.text("key"));
}

pub fn say(args: struct { level: i64, message: []const u8, n: i64 }) void {
    armature.log(armature.Level.of(args.level), args.message, .{ .n = args.n });
}

pub fn clock() Doc {
    var bytes: [16]u8 = undefined;
    armature.random(&bytes);
    return Doc.of(.{ .now = armature.now(), .random = armature.print("{s}", .{std.fmt.fmtSliceHexLower(&bytes)}) });
}

pub fn asked() !Doc {
    const request = try armature.request();
    return Doc.of(.{ .method = request.method, .path = request.path, .query = request.query });
}

pub fn reply(args: struct { status: u16, body: []const u8 }) !void {
    return armature.respond(args.status, .{ .@"content-type" = "text/plain", .@"x-guest" = "yes" }, args.body);
}

pub fn tell(args: struct { message: []const u8, title: []const u8 = "", indicator: []const u8 = "" }) !void {
    return armature.tell(args.message, .{ .title = args.title, .indicator = args.indicator });
}

pub fn reach(args: struct { url: []const u8 }) Doc {
    const answer = armature.fetch(.{ .url = args.url }) catch return caught();
    return Doc.of(.{ .kind = 0, .status = answer.status });
}

pub fn send(args: struct { url: []const u8, text: []const u8 }) Doc {
    const answer = armature.fetch(.{
        .url = args.url,
        .method = "POST",
        .headers = .{ .@"content-type" = "text/plain", .@"x-guest" = "yes" },
        .body = args.text,
    }) catch return caught();
    return Doc.of(.{ .kind = 0, .status = answer.status, .type = answer.headers.text("content-type"), .body = answer.body });
}

pub fn connect(args: struct { app: []const u8, url: []const u8, own: bool }) Doc {
    const as: armature.As = if (args.own) .app else .caller;
    const answer = armature.fetchConnected(args.app, as, .{ .url = args.url }) catch return caught();
    return Doc.of(.{ .kind = 0, .status = answer.status, .body = answer.body });
}

pub fn verify(args: struct { secret: []const u8, other: []const u8 }) Doc {
    const secrets = [_][]const u8{ args.other, args.secret };
    const answer = (armature.requests.WebhookVerify{ .secrets = &secrets }).send() catch return caught();
    return Doc.of(.{ .kind = 0, .id = answer.id, .timestamp = answer.timestamp });
}

pub fn letter(args: struct { to: []const u8, subject: []const u8, text: []const u8 }) Doc {
    const recipients = [_][]const u8{args.to};
    const answer = (armature.requests.Sendmail{ .recipients = &recipients, .subject = args.subject, .text = args.text }).send() catch return caught();
    return Doc.of(.{ .kind = 0, .jobs = answer.jobs.len });
}

pub fn spin() void {
    while (true) {}
}
