//! The todo plugin in Zig: four methods over the ToDo DocType.

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
