//! The conformance plugin in Zig: its exports.

const armature = @import("armature");
const methods = @import("methods.zig");

pub const panic = armature.panic;

export fn echo(length: usize) void {
    armature.run(length, methods.echo);
}

export fn arguments(length: usize) void {
    armature.run(length, methods.arguments);
}

export fn find(length: usize) void {
    armature.run(length, methods.find);
}

export fn transfer(length: usize) void {
    armature.run(length, methods.transfer);
}

export fn order(length: usize) void {
    armature.run(length, methods.order);
}

export fn show(length: usize) void {
    armature.run(length, methods.show);
}

export fn close(length: usize) void {
    armature.run(length, methods.close);
}

export fn check(length: usize) void {
    armature.run(length, methods.check);
}

export fn attempt(length: usize) void {
    armature.run(length, methods.attempt);
}

export fn raise(length: usize) void {
    armature.run(length, methods.raise);
}

export fn crash(length: usize) void {
    armature.run(length, methods.crash);
}

export fn tally(length: usize) void {
    armature.run(length, methods.tally);
}

export fn relay(length: usize) void {
    armature.run(length, methods.relay);
}

export fn who(length: usize) void {
    armature.run(length, methods.who);
}

export fn setting(length: usize) void {
    armature.run(length, methods.setting);
}

export fn keep(length: usize) void {
    armature.run(length, methods.keep);
}

export fn recall(length: usize) void {
    armature.run(length, methods.recall);
}

export fn forget(length: usize) void {
    armature.run(length, methods.forget);
}

export fn say(length: usize) void {
    armature.run(length, methods.say);
}

export fn clock(length: usize) void {
    armature.run(length, methods.clock);
}

export fn asked(length: usize) void {
    armature.run(length, methods.asked);
}

export fn reply(length: usize) void {
    armature.run(length, methods.reply);
}

export fn tell(length: usize) void {
    armature.run(length, methods.tell);
}

export fn reach(length: usize) void {
    armature.run(length, methods.reach);
}

export fn send(length: usize) void {
    armature.run(length, methods.send);
}

export fn connect(length: usize) void {
    armature.run(length, methods.connect);
}

export fn verify(length: usize) void {
    armature.run(length, methods.verify);
}

export fn letter(length: usize) void {
    armature.run(length, methods.letter);
}

export fn spin(length: usize) void {
    armature.run(length, methods.spin);
}
