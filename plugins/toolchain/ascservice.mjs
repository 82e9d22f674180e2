// Serves compilations to `armature plugin dev`: each line of standard input is the
// JSON of asc's arguments, each line of standard output what came of them. The
// process ends with its input.
import { createInterface } from "node:readline";
import { pathToFileURL } from "node:url";

const asc = await import(pathToFileURL(process.argv[2]));
const answer = process.stdout.write.bind(process.stdout);
process.stdout.write = process.stderr.write.bind(process.stderr); // whatever else is printed

for await (const line of createInterface({ input: process.stdin })) {
  const result = { output: "", failed: true };
  try {
    const { error, stdout, stderr } = await asc.main(JSON.parse(line));
    result.output = stdout.toString() + stderr.toString();
    result.failed = Boolean(error);
  } catch (e) {
    result.output = `${e?.stack ?? e}\n`;
  }
  answer(JSON.stringify(result) + "\n");
}
