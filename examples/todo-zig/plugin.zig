//! The todo plugin in Zig: four methods over the ToDo DocType.

const std = @import("std");
const armature = @import("armature");

const Doc = armature.Doc;

/// Has a panic say in the server's log what happened.
pub const panic = armature.panic;

export fn @"acme.todo.close"(length: usize) void {
    armature.run(length, close);
}

export fn @"acme.todo.show"(length: usize) void {
    armature.run(length, show);
}

export fn @"acme.todo.summary"(length: usize) void {
    armature.run(length, summary);
}

export fn @"acme.todo.echo"(length: usize) void {
    armature.run(length, echo);
}

const Name = struct { name: []const u8 };

/// Sets a ToDo's status to Closed and returns the document.
fn close(args: Name) !Doc {
    const todo = try armature.get("ToDo", args.name);
    if (todo.is("status", "Closed")) return todo;
    return armature.update("ToDo", args.name, .{ .status = "Closed" });
}

/// Returns a ToDo as the caller may see it.
fn show(args: Name) !Doc {
    return armature.get("ToDo", args.name);
}

const Summary = struct { user: []const u8, total: i64, by_status: Doc };

/// Counts the caller's ToDos by status.
fn summary() !Summary {
    var by = Doc.init();
    const Row = struct { status: []const u8 };
    for (try armature.from("ToDo").field("status").all().listAs(Row)) |row| {
        by.put(row.status, .{ .integer = by.int(row.status) + 1 });
    }
    return .{
        .user = (try armature.caller()).user,
        .total = try armature.from("ToDo").count(),
        .by_status = by,
    };
}

/// Returns its arguments.
fn echo(args: Doc) Doc {
    return args;
}

const stub = armature.stub;

test "closes" {
    stub.reset();
    stub.answer("doc_get", .{ .name = "T1", .status = "Open" });
    stub.answer("doc_update", .{ .name = "T1", .status = "Closed" });
    try std.testing.expect((try close(.{ .name = "T1" })).is("status", "Closed"));
    try stub.expectAsked("doc_update", .{ .doctype = "ToDo", .name = "T1", .doc = .{ .status = "Closed" } });
}

test "closes once" {
    stub.reset();
    stub.answer("doc_get", .{ .name = "T3", .status = "Closed" });
    _ = try close(.{ .name = "T3" });
    try std.testing.expect(stub.asked("doc_update") == null);
}

test "passes errors on" {
    stub.reset();
    stub.refuse("doc_get", .not_found, "DoesNotExistError", "ToDo T9 not found");
    try std.testing.expectError(error.NotFound, close(.{ .name = "T9" }));
    stub.answer("doc_get", .{ .name = "T1", .status = "Open" });
    stub.refuse("doc_update", .permission, "", "read only");
    try std.testing.expectError(error.Permission, close(.{ .name = "T1" }));
    try std.testing.expectEqualStrings("read only", armature.failure().message);
}

test "sums up" {
    stub.reset();
    stub.answer("caller_get", .{ .user = "zoe@example.com" });
    stub.answer("doc_count", 3);
    stub.answer("doc_list", .{ .{ .status = "Open" }, .{ .status = "Closed" }, .{ .status = "Open" } });
    try stub.expectJson(.{ .user = "zoe@example.com", .total = 3, .by_status = .{ .Open = 2, .Closed = 1 } }, try summary());
    try stub.expectAsked("doc_list", .{ .doctype = "ToDo", .fields = .{"status"}, .limit_page_length = 0 });
}

test "shows and echoes" {
    stub.reset();
    stub.answer("doc_get", .{ .description = "Call Zoë" });
    try std.testing.expectEqualStrings("Call Zoë", (try show(.{ .name = "T1" })).text("description"));
    try stub.expectJson(.{ .text = "a\n\"b\"" }, echo(Doc.of(.{ .text = "a\n\"b\"" })));
}
