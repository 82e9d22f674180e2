// Documents in memory. A write replaces a document and never changes one in place,
// so copies of the lists are all that a rollback needs.

let stored = new Map(); // by DocType, in order of insertion
let serial = 0;

const copy = (value) => (value === undefined ? undefined : JSON.parse(JSON.stringify(value)));

const table = (doctype) => stored.get(doctype) ?? [];

const snapshot = () => new Map([...stored].map(([doctype, docs]) => [doctype, [...docs]]));

// timestamp is this moment as documents have it.
const timestamp = () => new Date().toISOString().replace("T", " ").replace("Z", "000");

// present is a document as a client sees it: fields that are null are left out.
function present(document) {
  return copy(Object.fromEntries(Object.entries(document).filter(([, value]) => value !== null)));
}

function need(capability, member, value) {
  if (typeof value !== "string" || value === "") throw new BadRequestError(`${capability}: ${member} is missing`);
  return value;
}

function position(capability, { doctype, name }) {
  need(capability, "doctype", doctype);
  need(capability, "name", name);
  const at = table(doctype).findIndex((d) => d.name === name);
  if (at < 0) throw new NotFoundError(`${doctype} ${name} not found`);
  return at;
}

// definition is a DocType that the plugin brings; of others the stub knows nothing.
const definition = (doctype) => pluginIs.manifest?.doctypes?.find((d) => d.name === doctype);

// named is the name that a DocType takes from a field, if it does.
function named(doctype, fields) {
  const type = definition(doctype);
  if (!type?.autoname?.startsWith("field:")) return undefined;
  const name = type.autoname.slice("field:".length);
  if (fields[name]) return fields[name];
  throw new ValidationError(`${type.fields?.find((f) => f.fieldname === name)?.label ?? name} is required`);
}

// complete refuses a document without a field that its DocType requires.
function complete(made) {
  const missing = (definition(made.doctype)?.fields ?? []).filter((f) => f.reqd && (made[f.fieldname] ?? "") === "");
  if (missing.length === 0) return made;
  throw new ValidationError(`[${made.doctype}, ${made.name}]: ${missing.map((f) => f.fieldname).join(", ")}`, { type: "MandatoryError" });
}

function insertDocument(doctype, fields, check = (made) => made) {
  const now = timestamp();
  const made = {
    owner: user.name, creation: now, modified: now, modified_by: user.name, idx: 0, docstatus: 0,
    ...copy(fields), doctype,
  };
  made.name ||= named(doctype, made) ?? `${doctype.toLowerCase()}-${++serial}`;
  made.name = String(made.name);
  if (table(doctype).some((d) => d.name === made.name)) throw new ConflictError(`${doctype} ${made.name} already exists`);
  stored.set(doctype, [...table(doctype), check(made)]);
  return made;
}

function replaceDocument(doctype, at, changes) {
  const before = table(doctype)[at];
  const { name, owner, creation } = before;
  const made = { ...before, ...copy(changes), name, owner, creation, doctype, modified: timestamp(), modified_by: user.name };
  stored.set(doctype, table(doctype).with(at, complete(made)));
  return made;
}

function insert(request) {
  const doctype = need("doc_insert", "doctype", request.doctype ?? request.doc?.doctype);
  return present(insertDocument(doctype, request.doc, complete));
}

function update(request) {
  const at = position("doc_update", request);
  if (request.doc === undefined || request.doc === null) throw new BadRequestError("doc_update: doc is missing");
  const { doctype, name, doc: { docstatus, ...changes } } = request;
  const before = table(doctype)[at];
  if (changes.modified && changes.modified !== before.modified) {
    throw new ValidationError(
      `${doctype} ${name} has been modified after you have opened it. Please refresh to get the latest document.`,
      { type: "TimestampMismatchError" });
  }
  for (const constant of ["owner", "creation"]) {
    if (typeof changes[constant] === "string" && changes[constant] !== before[constant]) {
      throw new ValidationError(`Value cannot be changed for ${constant}`, { type: "CannotChangeConstantError" });
    }
  }
  return present(replaceDocument(doctype, at, { ...changes, docstatus: transition(before, docstatus ?? before.docstatus) }));
}

// transition is the docstatus a document may go on to.
function transition(before, to) {
  const from = before.docstatus;
  if (from === 2) throw new ValidationError("Cannot edit cancelled document");
  if (to !== from && to !== from + 1) {
    throw new ValidationError(`Cannot change docstatus of ${before.doctype} from ${from} to ${to}`, { type: "DocstatusTransitionError" });
  }
  return to;
}

const remove = (request) => { stored.set(request.doctype, table(request.doctype).toSpliced(position("doc_delete", request), 1)); };

const get = (request) => present(table(request.doctype)[position("doc_get", request)]);
