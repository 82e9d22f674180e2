// TextEncoder and TextDecoder, UTF-8 only. The host does the work.

class TextEncoder {
  get encoding() { return "utf-8"; }
  encode(text = "") { return host.encode(String(text)); }
  encodeInto(text, into) {
    let read = 0, written = 0;
    for (const c of String(text)) {
      const bytes = host.encode(c);
      if (written + bytes.length > into.length) break;
      into.set(bytes, written);
      written += bytes.length;
      read += c.length;
    }
    return { read, written };
  }
}

class TextDecoder {
  #fatal;
  #keepMark;
  constructor(label = "utf-8", options = {}) {
    if (!["utf-8", "utf8", "unicode-1-1-utf-8"].includes(String(label).trim().toLowerCase())) {
      throw new RangeError(`TextDecoder: the encoding ${label} is not offered, utf-8 is`);
    }
    this.#fatal = Boolean(options.fatal);
    this.#keepMark = Boolean(options.ignoreBOM);
  }
  get encoding() { return "utf-8"; }
  get fatal() { return this.#fatal; }
  get ignoreBOM() { return this.#keepMark; }
  decode(input = new Uint8Array(), options = {}) {
    if (options.stream) throw new TypeError("TextDecoder: stream is not offered; put the parts together first");
    const bytes = viewOf(input, "TextDecoder");
    const text = host.decode(bytes, this.#fatal ? "fatal" : "");
    if (text === undefined) throw new TypeError("TextDecoder: these bytes are not UTF-8");
    return !this.#keepMark && text.charCodeAt(0) === 0xfeff ? text.slice(1) : text;
  }
}

// viewOf is the bytes of a buffer or of any view, as a Uint8Array.
function viewOf(input, what) {
  if (ArrayBuffer.isView(input)) {
    return input instanceof Uint8Array ? input : new Uint8Array(input.buffer, input.byteOffset, input.byteLength);
  }
  if (input instanceof ArrayBuffer) return new Uint8Array(input);
  throw new TypeError(`${what}: expected an ArrayBuffer or a view of one`);
}
