//! A stand-in for the server, for tests that run by `zig test`. A test says
//! beforehand what each function of the host answers, in order, and calls the
//! plugin's functions as they are; what it does not say is answered by null:
//!
//!     const stub = armature.stub;
//!
//!     test "close" {
//!         stub.reset();
//!         stub.answer("doc_update", .{ .status = "Closed" });
//!         const todo = try close(.{ .name = "T1" });
//!         try std.testing.expectEqualStrings("Closed", todo.text("status"));
//!         try stub.expectAsked("doc_update", .{ .doctype = "ToDo", .name = "T1", .doc = .{ .status = "Closed" } });
//!     }
//!
//! The stub knows no DocTypes and no permissions.

const std = @import("std");
const armature = @import("armature.zig");

const Staged = struct { name: []const u8, kind: ?armature.Kind, text: []const u8 };
const Asked = struct { name: []const u8, text: []const u8 };

const State = struct {
    staged: [64]Staged = undefined,
    answers: usize = 0,
    asked: [256]Asked = undefined,
    asks: usize = 0,
    rest: []const u8 = "",
    logged: []const u8 = "",
    now: i64 = 0,
};

var state: State = .{};

/// Forgets what was staged, asked and logged.
pub fn reset() void {
    state = .{};
}

/// Stages what a function of the host, such as "doc_get", answers next.
pub fn answer(name: []const u8, value: anytype) void {
    stage(.{ .name = name, .kind = null, .text = armature.encode(value) });
}

/// Stages an error.
pub fn refuse(name: []const u8, kind: armature.Kind, exc_type: []const u8, message: []const u8) void {
    stage(.{ .name = name, .kind = kind, .text = armature.encode(.{ .exc_type = exc_type, .message = message }) });
}

fn stage(staged: Staged) void {
    state.staged[state.answers] = staged;
    state.answers += 1;
}

/// The latest request to a function of the host, as JSON; null if there was none.
pub fn asked(name: []const u8) ?[]const u8 {
    var i = state.asks;
    while (i > 0) {
        i -= 1;
        if (std.mem.eql(u8, state.asked[i].name, name)) return state.asked[i].text;
    }
    return null;
}

/// Expects the latest request to a function of the host to be this, member by
/// member in this order.
pub fn expectAsked(name: []const u8, want: anytype) !void {
    try std.testing.expectEqualStrings(armature.encode(want), asked(name) orelse "nothing");
}

/// Expects a value to be this as JSON.
pub fn expectJson(want: anytype, got: anytype) !void {
    try std.testing.expectEqualStrings(armature.encode(want), armature.encode(got));
}

/// The latest line that was logged.
pub fn logged() []const u8 {
    return state.logged;
}

/// Sets the clock, in microseconds since 1970.
pub fn setNow(now: i64) void {
    state.now = now;
}

fn deliver(p: [*]u8, cap: usize) void {
    const n = @min(cap, state.rest.len);
    @memcpy(p[0..n], state.rest[0..n]);
    state.rest = state.rest[n..];
}

fn capability(name: []const u8, in: []const u8, out: [*]u8, cap: usize) i32 {
    state.asked[state.asks] = .{ .name = name, .text = armature.print("{s}", .{in}) };
    state.asks += 1;
    var staged: Staged = .{ .name = name, .kind = null, .text = "null" };
    for (state.staged[0..state.answers], 0..) |s, i| {
        if (!std.mem.eql(u8, s.name, name)) continue;
        staged = s;
        std.mem.copyForwards(Staged, state.staged[i .. state.answers - 1], state.staged[i + 1 .. state.answers]);
        state.answers -= 1;
        break;
    }
    state.rest = staged.text;
    if (staged.kind) |kind| return -@intFromEnum(kind);
    deliver(out, cap);
    return @intCast(staged.text.len);
}

fn Capability(comptime name: []const u8) type {
    return struct {
        fn ask(in: [*]const u8, in_len: usize, out: [*]u8, cap: usize) i32 {
            return capability(name, in[0..in_len], out, cap);
        }
    };
}

/// The functions of the host.
pub const host = struct {
    pub const doc_get = Capability("doc_get").ask;
    pub const doc_list = Capability("doc_list").ask;
    pub const doc_count = Capability("doc_count").ask;
    pub const doc_insert = Capability("doc_insert").ask;
    pub const doc_update = Capability("doc_update").ask;
    pub const doc_delete = Capability("doc_delete").ask;
    pub const doc_submit = Capability("doc_submit").ask;
    pub const doc_cancel = Capability("doc_cancel").ask;
    pub const method_call = Capability("method_call").ask;
    pub const caller_get = Capability("caller_get").ask;
    pub const config_get = Capability("config_get").ask;
    pub const kv_get = Capability("kv_get").ask;
    pub const kv_set = Capability("kv_set").ask;
    pub const kv_delete = Capability("kv_delete").ask;
    pub const http_fetch = Capability("http_fetch").ask;
    pub const connected_request = Capability("connected_request").ask;
    pub const request_get = Capability("request_get").ask;
    pub const respond = Capability("respond").ask;
    pub const enqueue = Capability("enqueue").ask;

    pub fn take(p: [*]u8, cap: usize) usize {
        const left = state.rest.len;
        deliver(p, cap);
        return left;
    }

    pub fn log(_: i32, p: [*]const u8, len: usize) void {
        state.logged = armature.print("{s}", .{p[0..len]});
    }

    pub fn now() i64 {
        return state.now;
    }

    pub fn random(p: [*]u8, len: usize) void {
        @memset(p[0..len], 7);
    }

    // Exports are not called in tests: the functions behind them are.
    pub fn input(_: [*]u8, _: usize) usize {
        return 0;
    }

    pub fn output(_: [*]const u8, _: usize) void {}

    pub fn throw(kind: i32, _: [*]const u8, _: usize) noreturn {
        std.debug.panic("thrown: kind {d}", .{kind});
    }
};
