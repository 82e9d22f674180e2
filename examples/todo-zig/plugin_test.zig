//! Tests of the plugin, on a real site: armature plugin test.

const armature = @import("armature");
const testing = armature.testing;

const Doc = armature.Doc;

pub const panic = armature.panic;

fn todo(description: []const u8, status: []const u8) Doc {
    return testing.must(armature.insert("ToDo", .{ .description = description, .status = status }));
}

export fn @"test.closes"(_: usize) void {
    const made = todo("milk", "Open");
    testing.expectText("Closed", testing.must(testing.call(Doc, "acme.todo.close", .{ .name = made.name() })).text("status"));
    testing.expectText("Closed", testing.must(armature.get("ToDo", made.name())).text("status"));
}

export fn @"test.closes_once"(_: usize) void {
    const made = todo("milk", "Closed");
    testing.must(testing.call(void, "acme.todo.close", .{ .name = made.name() }));
    testing.expectText(made.text("modified"), testing.must(armature.get("ToDo", made.name())).text("modified"));
}

export fn @"test.close_of_nothing"(_: usize) void {
    testing.expectError(.not_found, "ToDo T9 not found", testing.call(Doc, "acme.todo.close", .{ .name = "T9" }));
}

export fn @"test.guests_may_not"(_: usize) void {
    const made = todo("milk", "Open");
    testing.actAs("Guest", &.{});
    testing.call(void, "acme.todo.close", .{ .name = made.name() }) catch |err| return testing.expect(err == error.Permission);
    testing.expect(false);
}

export fn @"test.sums_up"(_: usize) void {
    _ = todo("milk", "Open");
    _ = todo("bread", "Closed");
    _ = todo("jam", "Open");
    const summary = testing.must(testing.callBy(Doc, "GET", "acme.todo.summary", .{}));
    testing.expectJson(.{ .user = "Administrator", .total = 3, .by_status = .{ .Open = 2, .Closed = 1 } }, summary);
}

export fn @"test.shows_and_echoes"(_: usize) void {
    const made = todo("Call Zoë", "Open");
    testing.expectText("Call Zoë", testing.must(testing.callBy(Doc, "GET", "acme.todo.show", .{ .name = made.name() })).text("description"));
    testing.expectJson(.{ .text = "a\n\"b\"" }, testing.must(testing.call(Doc, "acme.todo.echo", .{ .text = "a\n\"b\"" })));
}
