//! What the tests of the SDK call.

const armature = @import("armature");

pub const panic = armature.panic;

export fn @"acme.check.refuse"(length: usize) void {
    armature.run(length, refuse);
}

export fn @"acme.check.answer"(length: usize) void {
    armature.run(length, answer);
}

fn refuse() !void {
    return armature.fail(.validation, "DueDateError", "grüß \"dich\"", .{});
}

fn answer() !void {
    return armature.respond(201, .{ .@"x-a" = "b" }, "é");
}
