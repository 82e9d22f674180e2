// What the tests of the SDK call.
import * as armature from "armature";
import { Value, handle } from "armature";

export function relay(n: i32): void { handle(n, relayBody); }

/** Answers with the body of what it fetches, and returns how long it is. */
function relayBody(args: Value): Value {
  const bytes = armature.body(armature.fetch(args).must());
  armature.respondBytes(200, Value.object(), bytes).must();
  return Value.of(bytes.length);
}
