// A plugin made with Extism's kit for AssemblyScript.
import { Config, Host, LogLevel, Var } from "@extism/as-pdk";

function onAbort(message: string | null, file: string | null, line: u32, column: u32): void {}

export function count_vowels(): i32 {
  const text = Host.inputString();
  let count = 0;
  for (let i = 0; i < text.length; i++) {
    if ("aeiouAEIOU".includes(text.charAt(i))) count++;
  }
  Var.set("a", Uint8Array.wrap(String.UTF8.encode("this is var a")));
  const a = Var.getString("a");
  const thing = Config.get("thing");
  Var.remove("a");
  Host.log(LogLevel.Info, "counted " + count.toString());
  Host.outputString('{"count": ' + count.toString() + ', "config": "' + (thing === null ? "null" : thing) + '", "a": "' + (a === null ? "null" : a) + '"}');
  return 0;
}

export function greet(): i32 {
  Host.outputString("Grüße, " + Host.inputString());
  return 0;
}

export function fail(): i32 {
  throw new Error("out of order");
}
