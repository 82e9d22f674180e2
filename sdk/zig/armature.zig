//! The Armature SDK for Zig: what a plugin imports. README.md beside it shows how
//! it is used; the contract below it is ../abi/abi.md.
//!
//! Everything is done as the caller of the method, in the transaction of the
//! request. Every call starts from the state after loading: nothing a call leaves
//! in a variable is seen by another, and all its memory comes back, so nothing has
//! to be freed.
//!
//! Outside WebAssembly the functions talk to `stub`, so that a plugin can be tested
//! as any other code, by `zig test`.

const std = @import("std");
const builtin = @import("builtin");

pub const stub = @import("stub.zig");

/// JSON of any kind.
pub const Value = std.json.Value;

/// The host's functions, as abi.md has them. What a plugin does not reach is not
/// imported, and the imports are the permissions it asks for.
const host = if (builtin.cpu.arch.isWasm()) struct {
    extern "armature1" fn input(p: [*]u8, cap: usize) usize;
    extern "armature1" fn output(p: [*]const u8, len: usize) void;
    extern "armature1" fn throw(kind: i32, p: [*]const u8, len: usize) noreturn;
    extern "armature1" fn take(p: [*]u8, cap: usize) usize;
    extern "armature1" fn log(level: i32, p: [*]const u8, len: usize) void;
    extern "armature1" fn now() i64;
    extern "armature1" fn random(p: [*]u8, len: usize) void;
    extern "armature1" fn doc_get(in: [*]const u8, in_len: usize, out: [*]u8, out_cap: usize) i32;
    extern "armature1" fn doc_list(in: [*]const u8, in_len: usize, out: [*]u8, out_cap: usize) i32;
    extern "armature1" fn doc_count(in: [*]const u8, in_len: usize, out: [*]u8, out_cap: usize) i32;
    extern "armature1" fn doc_insert(in: [*]const u8, in_len: usize, out: [*]u8, out_cap: usize) i32;
    extern "armature1" fn doc_update(in: [*]const u8, in_len: usize, out: [*]u8, out_cap: usize) i32;
    extern "armature1" fn doc_delete(in: [*]const u8, in_len: usize, out: [*]u8, out_cap: usize) i32;
    extern "armature1" fn doc_submit(in: [*]const u8, in_len: usize, out: [*]u8, out_cap: usize) i32;
    extern "armature1" fn doc_cancel(in: [*]const u8, in_len: usize, out: [*]u8, out_cap: usize) i32;
    extern "armature1" fn method_call(in: [*]const u8, in_len: usize, out: [*]u8, out_cap: usize) i32;
    extern "armature1" fn caller_get(in: [*]const u8, in_len: usize, out: [*]u8, out_cap: usize) i32;
    extern "armature1" fn config_get(in: [*]const u8, in_len: usize, out: [*]u8, out_cap: usize) i32;
    extern "armature1" fn kv_get(in: [*]const u8, in_len: usize, out: [*]u8, out_cap: usize) i32;
    extern "armature1" fn kv_set(in: [*]const u8, in_len: usize, out: [*]u8, out_cap: usize) i32;
    extern "armature1" fn kv_delete(in: [*]const u8, in_len: usize, out: [*]u8, out_cap: usize) i32;
    extern "armature1" fn http_fetch(in: [*]const u8, in_len: usize, out: [*]u8, out_cap: usize) i32;
    extern "armature1" fn connected_request(in: [*]const u8, in_len: usize, out: [*]u8, out_cap: usize) i32;
    extern "armature1" fn request_get(in: [*]const u8, in_len: usize, out: [*]u8, out_cap: usize) i32;
    extern "armature1" fn respond(in: [*]const u8, in_len: usize, out: [*]u8, out_cap: usize) i32;
    extern "armature1" fn enqueue(in: [*]const u8, in_len: usize, out: [*]u8, out_cap: usize) i32;
} else stub.host;

const wasm = builtin.cpu.arch.isWasm();

/// Memory for the time of the call. Without memory left the call ends as a trap.
pub const allocator = arena.allocator();
var arena = std.heap.ArenaAllocator.init(if (wasm) std.heap.wasm_allocator else std.heap.page_allocator);

// ---- Errors ----

/// The kind of an error; the HTTP status follows from it.
pub const Kind = enum(i32) {
    /// 500: a bug; the message is logged, not shown.
    internal = 1,
    /// 417: understood and refused by a rule.
    validation = 2,
    /// 401: credentials are wrong.
    authentication = 3,
    /// 403: the caller may not do this.
    permission = 4,
    /// 404: no such thing for this caller.
    not_found = 5,
    /// 409: the name is taken.
    conflict = 6,
    /// 410: past its use.
    gone = 7,
    /// 413: over the limit.
    too_large = 8,
    /// 415: a content type that is not read.
    unsupported_media = 9,
    /// 429: a budget is used up.
    too_many_requests = 10,
    /// 503: try again later.
    unavailable = 11,
    /// 400: malformed.
    bad_request = 12,
    /// 504: took longer than its limit.
    timeout = 13,
    /// 501: this server cannot do it.
    not_implemented = 14,
    /// 405: a known path without this verb.
    method_not_allowed = 15,
    /// 500: a limit other than time is used up.
    exhausted = 16,
    /// 500: the plugin died.
    trap = 17,

    /// The kind of a number; a number that is not known is `internal`.
    pub fn of(number: i64) Kind {
        return if (number >= 1 and number <= 17) @enumFromInt(number) else .internal;
    }
};

/// What the server refuses is an error of its kind, and so is what a method
/// returns to fail in a way its client can understand. A Zig error has no text:
/// `failure()` is the latest one with its type and message, for a method that
/// catches it, and for the server once a method returns it.
pub const Error = error{
    Internal,
    Validation,
    Authentication,
    Permission,
    NotFound,
    Conflict,
    Gone,
    TooLarge,
    UnsupportedMedia,
    TooManyRequests,
    Unavailable,
    BadRequest,
    Timeout,
    NotImplemented,
    MethodNotAllowed,
    Exhausted,
    Trap,
};

/// The errors in the order of their kinds.
const errors = [_]Error{
    error.Internal,    error.Validation, error.Authentication, error.Permission,       error.NotFound,
    error.Conflict,    error.Gone,       error.TooLarge,       error.UnsupportedMedia, error.TooManyRequests,
    error.Unavailable, error.BadRequest, error.Timeout,        error.NotImplemented,   error.MethodNotAllowed,
    error.Exhausted,   error.Trap,
};

/// The error of a kind.
pub fn errorOf(kind: Kind) Error {
    return errors[@intCast(@intFromEnum(kind) - 1)];
}

/// The kind of an error; one that is not the server's is `internal`.
pub fn kindOf(err: anyerror) Kind {
    for (errors, 1..) |e, number| {
        if (e == err) return @enumFromInt(number);
    }
    return .internal;
}

/// What an error does not say.
pub const Failure = struct {
    kind: Kind = .internal,
    /// The client's exc_type; empty: the kind's own.
    exc_type: []const u8 = "",
    /// Shown to the client, except for `Kind.internal`.
    message: []const u8 = "",
};

var latest: Failure = .{};

/// The latest error that the server answered or `fail` made.
pub fn failure() Failure {
    return latest;
}

/// Makes an error: `return armature.fail(.validation, "DueDateError", "{s} is past", .{date});`
pub fn fail(kind: Kind, exc_type: []const u8, comptime message: []const u8, args: anytype) Error {
    latest = .{ .kind = kind, .exc_type = exc_type, .message = print(message, args) };
    return errorOf(kind);
}

/// A rule of the plugin refuses the request (HTTP 417).
pub fn invalid(comptime message: []const u8, args: anytype) Error {
    return fail(.validation, "", message, args);
}

/// The caller may not do this (HTTP 403).
pub fn denied(comptime message: []const u8, args: anytype) Error {
    return fail(.permission, "", message, args);
}

/// There is no such thing (HTTP 404).
pub fn notFound(comptime message: []const u8, args: anytype) Error {
    return fail(.not_found, "", message, args);
}

/// Ends the call with an error; everything it wrote is undone.
fn throw(err: anyerror) noreturn {
    const kind = kindOf(err);
    // What is not an error of the server's, or was not made by fail, says its name.
    const f: Failure = if (kind == latest.kind) latest else .{ .kind = kind, .message = @errorName(err) };
    const text = encode(.{ .exc_type = f.exc_type, .message = f.message });
    host.throw(@intFromEnum(kind), text.ptr, text.len);
}

/// For `pub const panic = armature.panic;` in the plugin's root file: has a panic
/// say in the server's log what happened. It ends the call as a trap.
pub fn panic(message: []const u8, _: ?*std.builtin.StackTrace, _: ?usize) noreturn {
    host.log(@intFromEnum(Level.err), message.ptr, message.len);
    @trap();
}

// ---- JSON ----

/// Text made of a format, for the time of the call.
pub fn print(comptime format: []const u8, args: anytype) []u8 {
    return std.fmt.allocPrint(allocator, format, args) catch outOfMemory();
}

/// Any value as JSON: structs are objects, slices of u8 text.
pub fn encode(value: anytype) []const u8 {
    // Its name in Zig 0.15 and later.
    const write = if (@hasDecl(std.json, "stringifyAlloc")) std.json.stringifyAlloc else std.json.Stringify.valueAlloc;
    return write(allocator, value, .{}) catch outOfMemory();
}

/// JSON as a type: members that the type does not have are ignored, those that
/// have no default must be there.
pub fn decode(comptime T: type, text: []const u8) !T {
    return std.json.parseFromSliceLeaky(T, allocator, text, .{ .ignore_unknown_fields = true, .allocate = .alloc_if_needed });
}

fn outOfMemory() noreturn {
    @panic("out of memory");
}

/// What has members: `.{}` is an empty tuple to Zig, and would be an array.
fn members(value: anytype) if (@TypeOf(value) == @TypeOf(.{})) Raw else @TypeOf(value) {
    return if (@TypeOf(value) == @TypeOf(.{})) .{ .text = "{}" } else value;
}

/// A piece of JSON text, which is passed on as it is.
pub const Raw = struct {
    text: []const u8,

    pub fn jsonStringify(self: Raw, writer: anytype) !void {
        try writer.print("{s}", .{self.text});
    }
};

/// A JSON object: a document, some of its fields, or the arguments of a method.
/// The readers never fail: a member that is absent or of another type is the empty
/// value. Where all fields are known, a struct of the plugin's does as well.
pub const Doc = struct {
    map: std.json.ObjectMap,

    pub fn init() Doc {
        return .{ .map = std.json.ObjectMap.init(allocator) };
    }

    /// A Doc of a struct: `Doc.of(.{ .status = "Open" })`.
    pub fn of(value: anytype) Doc {
        return fromValue(decode(Value, encode(value)) catch outOfMemory());
    }

    /// What is no object is an empty one.
    pub fn fromValue(value: Value) Doc {
        return switch (value) {
            .object => |map| .{ .map = map },
            else => init(),
        };
    }

    pub fn get(self: Doc, member: []const u8) ?Value {
        return self.map.get(member);
    }

    pub fn put(self: *Doc, member: []const u8, value: Value) void {
        self.map.put(member, value) catch outOfMemory();
    }

    /// Reports whether there is a member, and that it is not null.
    pub fn has(self: Doc, member: []const u8) bool {
        return (self.get(member) orelse .null) != .null;
    }

    pub fn name(self: Doc) []const u8 {
        return self.text("name");
    }

    pub fn text(self: Doc, member: []const u8) []const u8 {
        return switch (self.get(member) orelse .null) {
            .string => |s| s,
            else => "",
        };
    }

    /// Reports whether a member is this text.
    pub fn is(self: Doc, member: []const u8, want: []const u8) bool {
        return std.mem.eql(u8, self.text(member), want);
    }

    /// A whole number, cut toward zero; text that is a number counts, because
    /// arguments from a query string are text.
    pub fn int(self: Doc, member: []const u8) i64 {
        switch (self.get(member) orelse .null) {
            .integer => |i| return i,
            .string => |s| if (std.fmt.parseInt(i64, s, 10)) |i| return i else |_| {},
            else => {},
        }
        const f = self.float(member);
        return if (f > -9.2e18 and f < 9.2e18) @intFromFloat(f) else 0;
    }

    pub fn float(self: Doc, member: []const u8) f64 {
        return switch (self.get(member) orelse .null) {
            .integer => |i| @floatFromInt(i),
            .float => |f| f,
            .number_string, .string => |s| std.fmt.parseFloat(f64, s) catch 0,
            .bool => |b| if (b) 1 else 0,
            else => 0,
        };
    }

    /// True, or a number other than 0.
    pub fn flag(self: Doc, member: []const u8) bool {
        return self.float(member) != 0;
    }

    pub fn array(self: Doc, member: []const u8) []const Value {
        return switch (self.get(member) orelse .null) {
            .array => |a| a.items,
            else => &.{},
        };
    }

    pub fn doc(self: Doc, member: []const u8) Doc {
        return fromValue(self.get(member) orelse .null);
    }

    /// A child table's rows.
    pub fn rows(self: Doc, member: []const u8) []const Doc {
        return docs(self.array(member));
    }

    /// The whole as a type of the plugin's.
    pub fn as(self: Doc, comptime T: type) !T {
        return decode(T, encode(self));
    }

    pub fn jsonStringify(self: Doc, writer: anytype) !void {
        try writer.write(Value{ .object = self.map });
    }

    pub fn jsonParse(a: std.mem.Allocator, source: anytype, options: std.json.ParseOptions) !Doc {
        return switch (try Value.jsonParse(a, source, options)) {
            .object => |map| .{ .map = map },
            .null => init(),
            else => error.UnexpectedToken,
        };
    }
};

fn docs(values: []const Value) []const Doc {
    const out = allocator.alloc(Doc, values.len) catch outOfMemory();
    for (values, out) |value, *doc| doc.* = Doc.fromValue(value);
    return out;
}

// ---- Calling the host ----

const room = 4096;

/// Sends a request to a function of the host and reads the answer as a type. It is
/// a copy for each function, so that the module imports those that are called and
/// no other.
inline fn ask(comptime T: type, comptime capability: []const u8, question: anytype) Error!T {
    const in = encode(members(question));
    var out: []u8 = allocator.alloc(u8, room) catch outOfMemory();
    const n = @field(host, capability)(in.ptr, in.len, out.ptr, room);
    return answer(T, n, out);
}

fn answer(comptime T: type, n: i32, beginning: []u8) Error!T {
    if (n < 0) {
        const kind = Kind.of(-@as(i64, n));
        const body = decode(Doc, whole(beginning, host.take(beginning.ptr, room))) catch Doc.init();
        latest = .{ .kind = kind, .exc_type = body.text("exc_type"), .message = body.text("message") };
        return errorOf(kind);
    }
    const text = whole(beginning, @intCast(n));
    if (T == void) return;
    if (T == Raw) return .{ .text = text };
    return decode(T, text) catch |err| fail(.internal, "", "the answer does not fit " ++ @typeName(T) ++ ": {s}", .{@errorName(err)});
}

/// All of an answer of which the beginning is there.
fn whole(beginning: []u8, length: usize) []u8 {
    if (length <= room) return beginning[0..length];
    const all = allocator.realloc(beginning, length) catch outOfMemory();
    _ = host.take(all.ptr + room, length - room);
    return all;
}

// ---- Documents. A write that the server refuses is undone by itself: a method
// may catch the error and go on. Each function has a sibling that gives a type of
// the plugin's instead of a Doc, or Raw. ----

/// Reads a document.
pub fn get(doctype: []const u8, name: []const u8) Error!Doc {
    return getAs(Doc, doctype, name);
}

pub fn getAs(comptime T: type, doctype: []const u8, name: []const u8) Error!T {
    return ask(T, "doc_get", .{ .doctype = doctype, .name = name });
}

/// Stores a new document and returns it as stored. fields is a struct or a Doc.
pub fn insert(doctype: []const u8, fields: anytype) Error!Doc {
    return insertAs(Doc, doctype, fields);
}

pub fn insertAs(comptime T: type, doctype: []const u8, fields: anytype) Error!T {
    var doc = Doc.of(fields);
    doc.put("doctype", .{ .string = doctype });
    return ask(T, "doc_insert", .{ .doc = doc });
}

/// Changes the fields given, leaves the others, and returns the whole document.
pub fn update(doctype: []const u8, name: []const u8, changes: anytype) Error!Doc {
    return updateAs(Doc, doctype, name, changes);
}

pub fn updateAs(comptime T: type, doctype: []const u8, name: []const u8, changes: anytype) Error!T {
    return ask(T, "doc_update", .{ .doctype = doctype, .name = name, .doc = members(changes) });
}

/// Removes a document.
pub fn delete(doctype: []const u8, name: []const u8) Error!void {
    return ask(void, "doc_delete", .{ .doctype = doctype, .name = name });
}

/// Makes a draft final: docstatus 0 to 1.
pub fn submit(doctype: []const u8, name: []const u8) Error!Doc {
    return ask(Doc, "doc_submit", .{ .doctype = doctype, .name = name });
}

/// Takes a submitted document back: docstatus 1 to 2.
pub fn cancel(doctype: []const u8, name: []const u8) Error!Doc {
    return ask(Doc, "doc_cancel", .{ .doctype = doctype, .name = name });
}

/// Begins a query:
///
///     const rows = try armature.from("ToDo").field("name").eq("status", "Open").orderBy("modified desc").limit(5).list();
///
/// Without a field a list has names only, without a limit 20 rows.
pub fn from(doctype: []const u8) Query {
    return .{ .doctype = doctype };
}

/// Which documents to list or count, and what of them. Each function returns a
/// query that says more, and leaves its own as it was.
pub const Query = struct {
    doctype: []const u8,
    fields: []const u8 = "",
    filters: []const u8 = "",
    or_filters: []const u8 = "",
    order: ?[]const u8 = null,
    group: ?[]const u8 = null,
    first: ?u64 = null,
    most: ?u64 = null,

    /// Asks for a field.
    pub fn field(self: Query, name: []const u8) Query {
        var q = self;
        q.fields = add(q.fields, encode(name));
        return q;
    }

    /// Adds a condition with any operator the server knows; all have to hold.
    pub fn where(self: Query, name: []const u8, op: []const u8, value: anytype) Query {
        var q = self;
        q.filters = add(q.filters, encode(.{ name, op, value }));
        return q;
    }

    /// Adds a condition of those of which one has to hold.
    pub fn orWhere(self: Query, name: []const u8, op: []const u8, value: anytype) Query {
        var q = self;
        q.or_filters = add(q.or_filters, encode(.{ name, op, value }));
        return q;
    }

    pub fn eq(self: Query, name: []const u8, value: anytype) Query {
        return self.where(name, "=", value);
    }

    pub fn ne(self: Query, name: []const u8, value: anytype) Query {
        return self.where(name, "!=", value);
    }

    pub fn lt(self: Query, name: []const u8, value: anytype) Query {
        return self.where(name, "<", value);
    }

    pub fn gt(self: Query, name: []const u8, value: anytype) Query {
        return self.where(name, ">", value);
    }

    /// Matches a pattern of % and _.
    pub fn like(self: Query, name: []const u8, pattern: []const u8) Query {
        return self.where(name, "like", pattern);
    }

    /// Is true for any of the values: `.anyOf("priority", .{ "High", "Medium" })`.
    pub fn anyOf(self: Query, name: []const u8, values: anytype) Query {
        return self.where(name, "in", values);
    }

    /// "field asc" or "field desc".
    pub fn orderBy(self: Query, order: []const u8) Query {
        var q = self;
        q.order = order;
        return q;
    }

    pub fn groupBy(self: Query, name: []const u8) Query {
        var q = self;
        q.group = name;
        return q;
    }

    /// Skips rows.
    pub fn start(self: Query, rows: u64) Query {
        var q = self;
        q.first = rows;
        return q;
    }

    /// At most so many rows.
    pub fn limit(self: Query, rows: u64) Query {
        var q = self;
        q.most = rows;
        return q;
    }

    /// Every row there is.
    pub fn all(self: Query) Query {
        return self.limit(0);
    }

    /// The documents, each with the fields asked for.
    pub fn list(self: Query) Error![]const Doc {
        return self.listAs(Doc);
    }

    pub fn listAs(self: Query, comptime T: type) Error![]const T {
        return ask([]const T, "doc_list", self);
    }

    /// How many there are for which the conditions of where hold.
    pub fn count(self: Query) Error!i64 {
        return ask(i64, "doc_count", Query{ .doctype = self.doctype, .filters = self.filters });
    }

    pub fn jsonStringify(self: Query, writer: anytype) !void {
        try writer.beginObject();
        try writer.objectField("doctype");
        try writer.write(self.doctype);
        inline for (.{ "fields", "filters", "or_filters" }) |member| {
            if (@field(self, member).len > 0) {
                try writer.objectField(member);
                try writer.print("[{s}]", .{@field(self, member)});
            }
        }
        inline for (.{ "order", "group", "first", "most" }, .{ "order_by", "group_by", "limit_start", "limit_page_length" }) |member, name| {
            if (@field(self, member)) |value| {
                try writer.objectField(name);
                try writer.write(value);
            }
        }
        try writer.endObject();
    }

    fn add(list_: []const u8, element: []const u8) []const u8 {
        return if (list_.len == 0) element else print("{s},{s}", .{ list_, element });
    }
};

// ---- Methods, the caller, the configuration, the store ----

/// Runs a whitelisted method in the same transaction for the same caller. args is
/// a struct or a Doc.
pub fn call(comptime T: type, method: []const u8, args: anytype) Error!T {
    return ask(T, "method_call", .{ .method = method, .args = members(args) });
}

/// Has a method run once the transaction is committed, and returns the job's id.
pub fn enqueue(method: []const u8, args: anytype) Error![]const u8 {
    const job = try ask(Doc, "enqueue", .{ .method = method, .args = members(args) });
    return job.text("job");
}

/// Who is acting.
pub const User = struct {
    /// The user's id; "Guest" without credentials.
    user: []const u8,
    full_name: []const u8 = "",
    roles: []const []const u8 = &.{},
};

/// The user on whose behalf the method runs.
pub fn caller() Error!User {
    return ask(User, "caller_get", .{});
}

/// Reads a key of the plugin's configuration on this site. A key that is not set
/// is null: T is an optional, or Value.
pub fn config(comptime T: type, key: []const u8) Error!T {
    return ask(T, "config_get", .{ .key = key });
}

/// Reads a key of the plugin's own store on this site; null if it is absent or
/// expired: T is an optional, or Value. The store is a cache: a key may go at any
/// time.
pub fn load(comptime T: type, key: []const u8) Error!T {
    return ask(T, "kv_get", .{ .key = key });
}

/// Writes a key; ttl is its life in seconds, 0 keeps it.
pub fn store(key: []const u8, value: anytype, ttl: u64) Error!void {
    if (ttl == 0) return ask(void, "kv_set", .{ .key = key, .value = value });
    return ask(void, "kv_set", .{ .key = key, .value = value, .ttl_s = ttl });
}

/// Removes a key; one that is absent is no error.
pub fn forget(key: []const u8) Error!void {
    return ask(void, "kv_delete", .{ .key = key });
}

// ---- HTTP. Bodies are bytes; text is sent as text. ----

/// What came back. A status of 400 or more is no error.
pub const HttpResponse = struct {
    status: u16,
    /// Names in lower case.
    headers: Doc,
    body: []const u8,
};

/// Sends an HTTP request, a struct of
///
/// - `url`, https and of a host the manifest allows,
/// - and where they are wanted `method`, `headers`, a struct or a Doc, `body`, text
///   or other bytes, and `timeout` in milliseconds:
///
///     armature.fetch(.{ .url = "https://example.com/", .headers = .{ .accept = "text/plain" } })
///
/// It is refused once the transaction has begun.
pub fn fetch(request_: anytype) Error!HttpResponse {
    return response(try ask(Doc, "http_fetch", outgoing(request_)));
}

/// Whose token a request carries.
pub const As = enum { caller, app };

/// Sends an HTTP request with the token that a Connected App holds for the caller,
/// or with the app's own; the plugin never sees it. `failure().exc_type` is
/// NotConnectedError or ConnectionBrokenError where the caller has to connect
/// first, or anew.
pub fn fetchConnected(app: []const u8, as: As, request_: anytype) Error!HttpResponse {
    var r = outgoing(request_);
    r.put("app", .{ .string = app });
    if (as == .app) r.put("as", .{ .string = "app" });
    return response(try ask(Doc, "connected_request", r));
}

fn outgoing(given: anytype) Doc {
    const Given = @TypeOf(given);
    inline for (std.meta.fields(Given)) |f| {
        if (comptime !isRequestMember(f.name)) @compileError("an HTTP request has no member " ++ f.name);
    }
    var doc = Doc.of(.{ .url = given.url });
    if (@hasField(Given, "method")) doc.put("method", .{ .string = given.method });
    if (@hasField(Given, "headers")) doc.put("headers", .{ .object = Doc.of(given.headers).map });
    if (@hasField(Given, "body")) putBody(&doc, given.body);
    if (@hasField(Given, "timeout")) doc.put("timeout_ms", .{ .integer = given.timeout });
    return doc;
}

fn isRequestMember(name: []const u8) bool {
    for ([_][]const u8{ "url", "method", "headers", "body", "timeout" }) |member| {
        if (std.mem.eql(u8, name, member)) return true;
    }
    return false;
}

fn response(d: Doc) HttpResponse {
    return .{ .status = @intCast(@min(@max(d.int("status"), 0), 999)), .headers = d.doc("headers"), .body = bodyOf(d) };
}

fn putBody(doc: *Doc, body: []const u8) void {
    if (body.len == 0) return;
    if (std.unicode.utf8ValidateSlice(body)) {
        doc.put("body", .{ .string = body });
    } else {
        const encoder = std.base64.standard.Encoder;
        const text = allocator.alloc(u8, encoder.calcSize(body.len)) catch outOfMemory();
        doc.put("body_base64", .{ .string = encoder.encode(text, body) });
    }
}

fn bodyOf(d: Doc) []const u8 {
    const text = d.text("body_base64");
    if (text.len == 0) return d.text("body");
    const decoder = std.base64.standard.Decoder;
    const bytes = allocator.alloc(u8, decoder.calcSizeForSlice(text) catch return "") catch outOfMemory();
    decoder.decode(bytes, text) catch return "";
    return bytes;
}

/// The HTTP request that made the call.
pub const IncomingRequest = struct {
    method: []const u8,
    path: []const u8,
    query: []const u8,
    /// Names in lower case; no credentials.
    headers: Doc,
    body: []const u8,
};

/// The HTTP request that made the call. error.NotFound: it did not come by HTTP.
pub fn request() Error!IncomingRequest {
    const d = try ask(Doc, "request_get", .{});
    return .{ .method = d.text("method"), .path = d.text("path"), .query = d.text("query"), .headers = d.doc("headers"), .body = bodyOf(d) };
}

/// Answers that request with a body as it is, instead of the method's result.
/// headers is a struct, `.{ .@"content-type" = "text/plain" }`, or a Doc.
pub fn respond(status: u16, headers: anytype, body: []const u8) Error!void {
    var doc = Doc.of(.{ .status = status, .headers = Doc.of(headers) });
    putBody(&doc, body);
    return ask(void, "respond", doc);
}

// ---- Log, clock, randomness ----

pub const Level = enum(i32) {
    debug = 0,
    info = 1,
    warn = 2,
    err = 3,

    /// The level of a number; the nearest one for a number that is none.
    pub fn of(number: i64) Level {
        return @enumFromInt(@min(@max(number, 0), 3));
    }
};

/// Writes a line to the server's log, with attributes: a struct or a Doc.
pub fn log(level: Level, message: []const u8, attributes: anytype) void {
    var line = Doc.of(attributes);
    line.put("message", .{ .string = message });
    const text = encode(line);
    host.log(@intFromEnum(level), text.ptr, text.len);
}

/// The host's clock: microseconds since 1970-01-01T00:00:00Z.
pub fn now() i64 {
    return host.now();
}

/// Fills bytes with random ones, fresh in every call.
pub fn random(bytes: []u8) void {
    host.random(bytes.ptr, bytes.len);
}

// ---- A call: its input, its output ----

/// The input of an event handler. doc is the document as it is about to be
/// written, before the stored one, if there is one. What the handler returns, an
/// object of fields, is set in the document. T is Doc or a type of the plugin's.
pub fn Event(comptime T: type) type {
    return struct {
        event: []const u8,
        doc: T,
        before: ?T = null,
    };
}

/// Runs one call; the export of a method does nothing else:
///
///     export fn @"acme.todo.close"(length: usize) void {
///         armature.run(length, close);
///     }
///
/// The method takes nothing, or one of Doc, Value, Event and types of the
/// plugin's; it returns nothing, or what becomes JSON, or an error union of that.
pub fn run(length: usize, comptime method: anytype) void {
    const T = Argument(@TypeOf(method));
    const result = if (T == void) method() else method(arguments(T, length) catch |err| throw(err));
    if (comptime mayFail(@TypeOf(result))) {
        output(result catch |err| throw(err));
    } else {
        output(result);
    }
}

// Zig 0.14 has other names for the kinds of types.
const old_names = @hasField(std.builtin.Type, "Fn");

/// The type of what a method takes; void if it takes nothing.
fn Argument(comptime Method: type) type {
    const params = if (old_names) @typeInfo(Method).Fn.params else @typeInfo(Method).@"fn".params;
    if (params.len > 1) @compileError("a method takes its arguments as one value, or none");
    return if (params.len == 0) void else params[0].type.?;
}

fn mayFail(comptime T: type) bool {
    return if (old_names) @typeInfo(T) == .ErrorUnion else @typeInfo(T) == .error_union;
}

fn arguments(comptime T: type, length: usize) Error!T {
    const text = allocator.alloc(u8, length) catch outOfMemory();
    _ = host.input(text.ptr, length);
    return decode(T, text) catch |err| fail(.validation, "FrameworkTypeError", "Invalid arguments: {s}", .{@errorName(err)});
}

fn output(value: anytype) void {
    if (@TypeOf(value) == void) return; // null, which needs no output
    const text = encode(value);
    host.output(text.ptr, text.len);
}
