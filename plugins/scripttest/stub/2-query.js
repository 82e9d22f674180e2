// Lists: the filters, orders and pages of doc_list and doc_count, as the server has
// them. Of a field that has no value it depends on what it is compared with whether
// it counts as 0 or as no text.

function compare(value, wanted) {
  const [a, b] = alike(value, wanted);
  return a < b ? -1 : a > b ? 1 : 0;
}

// alike are two values of one type, which is that of the stored one.
function alike(value, wanted) {
  const plain = (v) => (typeof v === "boolean" ? Number(v) : v ?? undefined);
  const [a, b] = [plain(value), plain(wanted)];
  if (typeof (a ?? b) === "number") return [Number(a ?? 0), Number(b ?? 0)];
  return [String(a ?? ""), String(b ?? "")];
}

function like(value, pattern) {
  const parts = { "%": "[^]*", _: "[^]" };
  const text = String(pattern).replace(/\\([^])|[%_]|[.*+?^${}()|[\]\\]/g, (all, escaped) => parts[all] ?? (escaped === undefined ? `\\${all}` : escaped.replace(/\W/, "\\$&")));
  return new RegExp(`^${text}$`, "i").test(String(value));
}

const absent = (value) => value === undefined || value === null;

// listOf are several values: a list, or texts with commas between them.
function listOf(wanted) {
  if (absent(wanted) || typeof wanted === "string" && wanted.trim() === "") return [];
  return Array.isArray(wanted) ? wanted : typeof wanted === "string" ? wanted.split(",").map((w) => w.trim()) : [wanted];
}

function some(wanted, field) {
  if (absent(wanted)) throw new ValidationError(`${field}: null compares only with = and !=`);
  return wanted;
}

const operators = {
  "=": (value, wanted) => compare(value, wanted) === 0,
  "!=": (value, wanted) => compare(value, wanted) !== 0,
  "<": (value, wanted, field) => compare(value, some(wanted, field)) < 0,
  ">": (value, wanted, field) => compare(value, some(wanted, field)) > 0,
  "<=": (value, wanted, field) => compare(value, some(wanted, field)) <= 0,
  ">=": (value, wanted, field) => compare(value, some(wanted, field)) >= 0,
  like: (value, pattern) => !absent(value) && like(value, pattern),
  "not like": (value, pattern) => (absent(value) ? !/^%*$/.test(pattern) : !like(value, pattern)),
  in: (value, wanted) => listOf(wanted).some((w) => compare(value, w) === 0),
  "not in": (value, wanted) => !operators.in(value, wanted),
  is(value, wanted) {
    const word = String(wanted ?? "not set").toLowerCase().trim().replace(/\s+/g, " ");
    if (word !== "set" && word !== "not set") throw new ValidationError('is takes "set" or "not set"');
    return (!absent(value) && value !== "") === (word === "set");
  },
  between: (value, wanted, field) => {
    const bounds = listOf(wanted);
    if (bounds.length !== 2) {
      throw new ValidationError(`${field}: between takes ${bounds.length > 2 ? "two values" : "a list of two values"}`);
    }
    if (absent(value) && typeof bounds[0] === "string") return false; // a field of numbers has 0
    return compare(value, bounds[0]) >= 0 && compare(value, bounds[1]) <= 0;
  },
};

const spellings = { "=<": "<=", "=>": ">=", ilike: "like", "not ilike": "not like" };

// elsewhere are operators that need what only a database knows.
const elsewhere = [
  "timespan", "previous", "next", "descendants of", "not descendants of", "descendants of (inclusive)", "ancestors of", "not ancestors of",
];

function operatorOf(text) {
  const name = String(text).toLowerCase().trim().replace(/\s+/g, " ");
  return spellings[name] ?? (Object.hasOwn(operators, name) || elsewhere.includes(name) ? name : undefined);
}

// conditionOf reads [field, value], [field, operator, value] or [DocType, field,
// operator, value].
function conditionOf(filter) {
  if (!Array.isArray(filter)) throw new ValidationError("A filter must be a JSON array or object", { type: "DataError" });
  if (filter.length < 2 || filter.length > 5) throw new ValidationError("A filter has two to five parts", { type: "DataError" });
  if (filter.length === 2) return [filter[0], "=", filter[1]];
  const [field, operator, wanted] = filter.length > 3 && !(operatorOf(filter[1]) && !operatorOf(filter[2])) ? filter.slice(1) : filter;
  const name = operatorOf(operator);
  if (name === undefined) throw new ValidationError(`Operator must be one of ${[...Object.keys(operators), ...elsewhere].join(", ")}`);
  if (elsewhere.includes(name)) {
    throw new NotImplementedError(`the host of tests has no operator ${name}: give the answer with host.on`);
  }
  return [field, name, wanted];
}

function matching(capability, { doctype, filters, or_filters }) {
  need(capability, "doctype", doctype);
  const all = (filters ?? []).map(conditionOf);
  const any = (or_filters ?? []).map(conditionOf);
  const holds = (document) => ([field, name, wanted]) => operators[name](document[field], wanted, field);
  const never = { name: "" }; // is asked too, so that a mistake is one on an empty table
  return [never, ...table(doctype)].map((d) => [d, all.map(holds(d)).every(Boolean) && (any.length === 0 || any.map(holds(d)).some(Boolean))])
    .filter(([d, held]) => held && d !== never).map(([d]) => d);
}

function list(request) {
  if (request.group_by) throw new NotImplementedError("the host of tests does not group: give the answer of doc_list with host.on");
  const rows = matching("doc_list", request);
  const orders = (request.order_by ?? "modified desc").split(",").map((o) => o.trim().split(/\s+/));
  rows.sort((a, b) => orders.reduce((so, [field, way = "asc"]) =>
    so || compare(a[field], b[field]) * (way.toLowerCase() === "desc" ? -1 : 1), 0));
  const start = request.limit_start ?? 0;
  const length = request.limit_page_length ?? 20;
  return rows.slice(start, length > 0 ? start + length : undefined).map((d) => row(d, request.fields ?? ["name"]));
}

function row(document, fields) {
  const all = fields.flatMap((f) => (f === "*" ? Object.keys(document).filter((key) => key !== "doctype") : [f]));
  return Object.fromEntries(all.map((field) => [field, copy(document[field]) ?? null]));
}

const count = (request) => matching("doc_count", request).length;
