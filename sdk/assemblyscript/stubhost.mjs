// A stand-in for the server, for tests that run a plugin's module with node. It
// serves modules of any language that import nothing but the host. A test says
// beforehand what each function of the host answers, in order; what it does not
// say is answered by null:
//
//   const { Host } = await import(process.env.ARMATURE_STUBHOST);
//   const host = await Host.load(process.env.ARMATURE_MODULE);
//   host.answer("doc_get", { name: "T1", status: "Open" });
//   host.call("show", { name: "T1" });
//
// The stub knows no DocTypes and no permissions.
import { readFile } from "node:fs/promises";

/** What a plugin threw. */
export class Thrown extends Error {
  constructor(kind, body) {
    super(body.message);
    this.kind = kind;
    this.type = body.exc_type;
  }
}

const encoder = new TextEncoder();
const decoder = new TextDecoder();

export class Host {
  /** Reads a module; each call has an instance of its own, as on a server. */
  static async load(path) {
    return new Host(await WebAssembly.compile(await readFile(path)));
  }

  constructor(module) {
    this.module = module;
    this.staged = [];
    this.asked = [];
    this.log = [];
    this.now = 0n;
  }

  /** Stages what a function of the host answers next. */
  answer(name, value) {
    this.staged.push({ name, kind: 0, value });
  }

  /** Stages an error. */
  refuse(name, kind, exc_type, message) {
    this.staged.push({ name, kind, value: { exc_type, message } });
  }

  /** The latest request to a function of the host, or undefined. */
  request(name) {
    return this.asked.findLast((a) => a.name === name)?.request;
  }

  /** Calls an export with arguments and returns its result, or throws Thrown. */
  call(name, args = {}) {
    const input = encoder.encode(JSON.stringify(args));
    let output = "null";
    let rest = new Uint8Array();
    let memory;
    this.asked = [];
    const view = (p, n) => new Uint8Array(memory.buffer, p, n);
    const text = (p, n) => decoder.decode(view(p, n));
    const give = (bytes, p, cap) => view(p, Math.min(cap, bytes.length)).set(bytes.subarray(0, cap));
    const own = {
      input: (p, cap) => (give(input, p, cap), input.length),
      output: (p, n) => { output = text(p, n); },
      throw: (kind, p, n) => { throw new Thrown(kind, JSON.parse(text(p, n) || "{}")); },
      take: (p, cap) => {
        const left = rest.length;
        give(rest, p, cap);
        rest = rest.subarray(Math.min(cap, left));
        return left;
      },
      log: (level, p, n) => { this.log.push({ level, text: text(p, n) }); },
      now: () => this.now,
      random: (p, n) => { view(p, n).fill(7); },
    };
    const capability = (name) => (p, n, out, cap) => {
      this.asked.push({ name, request: JSON.parse(text(p, n)) });
      const at = this.staged.findIndex((s) => s.name === name);
      const { kind, value } = at < 0 ? { kind: 0, value: null } : this.staged.splice(at, 1)[0];
      rest = encoder.encode(JSON.stringify(value));
      if (kind) return -kind;
      give(rest, out, cap);
      const length = rest.length;
      rest = rest.subarray(Math.min(cap, length));
      return length;
    };
    const host = new Proxy(own, { get: (own, name) => own[name] ?? capability(name) });
    const instance = new WebAssembly.Instance(this.module, { armature1: host });
    memory = instance.exports.memory;
    instance.exports._initialize?.();
    instance.exports[name](input.length);
    return JSON.parse(output);
  }
}
