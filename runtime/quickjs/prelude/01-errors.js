// The platform's errors. A kind is the number by which the host knows one; the
// type is what a client finds in exc_type.

class ArmatureError extends Error {
  constructor(message = "", options = {}) {
    super(String(message), options);
    const own = new.target;
    define(this, "kind", options.kind ?? own.kind ?? 17);
    define(this, "type", options.type ?? own.type ?? "");
  }
  get name() { return this.type || this.constructor.name; }
}

function define(object, name, value) {
  Object.defineProperty(object, name, { value, writable: true, configurable: true });
}

// errorClasses has the classes by kind.
const errorClasses = new Map();

for (const [kind, name, type] of [
  [2, "ValidationError", "ValidationError"],
  [3, "AuthenticationError", "AuthenticationError"],
  [4, "PermissionError", "PermissionError"],
  [5, "NotFoundError", "DoesNotExistError"],
  [6, "ConflictError", "DuplicateEntryError"],
  [7, "GoneError", "LinkExpired"],
  [8, "TooLargeError", "RequestEntityTooLargeError"],
  [9, "UnsupportedMediaError", "UnsupportedMediaType"],
  [10, "TooManyRequestsError", "TooManyRequestsError"],
  [11, "UnavailableError", "ServiceUnavailable"],
  [12, "BadRequestError", "BadRequestError"],
  [13, "TimeoutError", "TimeoutError"],
  [14, "NotImplementedError", "NotImplementedError"],
  [15, "MethodNotAllowedError", "MethodNotAllowedError"],
  [16, "ExhaustedError", "ResourceExhaustedError"],
]) {
  const own = { [name]: class extends ArmatureError {} }[name];
  own.kind = kind;
  own.type = type;
  errorClasses.set(kind, own);
}

// raise throws what the host refused with, {kind, exc_type, message}.
function raise(refusal) {
  const own = errorClasses.get(refusal.kind) ?? ArmatureError;
  throw new own(refusal.message, { kind: refusal.kind, type: refusal.exc_type || undefined });
}

// describe tells the host what was thrown, whatever it is.
function describe(thrown) {
  let kind = 0, type = "", message = "", stack = "";
  try {
    if (thrown instanceof Error) {
      kind = thrown instanceof ArmatureError ? thrown.kind : 0;
      type = kind ? thrown.type : thrown.name;
      message = thrown.message;
      stack = thrown.stack;
    } else {
      message = typeof thrown === "object" && thrown !== null ? JSON.stringify(thrown) : String(thrown);
    }
  } catch {
    message = "something that cannot be shown was thrown";
  }
  return JSON.stringify({ kind: number(kind), type: String(type), message: String(message), stack: String(stack ?? "") });
}

function number(x) { return typeof x === "number" && x === Math.trunc(x) && x > 0 && x < 256 ? x : 0; }
