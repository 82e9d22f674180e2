// Lists: the filters, orders and pages of doc_list and doc_count, as the databases
// have them for fields of plain types.

function compare(a, b) {
  if (typeof a === "string" || typeof b === "string") {
    [a, b] = [a, b].map((value) => String(value ?? "").toLowerCase()); // databases take no notice of case
  } else {
    [a, b] = [Number(a ?? 0), Number(b ?? 0)];
  }
  return a < b ? -1 : a > b ? 1 : 0;
}

function like(value, pattern) {
  const text = String(pattern).replace(/[.*+?^${}()|[\]\\]/g, "\\$&").replace(/%/g, "[^]*").replace(/_/g, "[^]");
  return new RegExp(`^${text}$`, "iu").test(String(value ?? ""));
}

const operators = {
  "=": (value, wanted) => compare(value, wanted) === 0,
  "!=": (value, wanted) => compare(value, wanted) !== 0,
  "<": (value, wanted) => compare(value, wanted) < 0,
  "<=": (value, wanted) => compare(value, wanted) <= 0,
  ">": (value, wanted) => compare(value, wanted) > 0,
  ">=": (value, wanted) => compare(value, wanted) >= 0,
  like,
  "not like": (value, pattern) => !like(value, pattern),
  in: (value, wanted) => listOf("in", wanted).some((w) => compare(value, w) === 0),
  "not in": (value, wanted) => !listOf("not in", wanted).some((w) => compare(value, w) === 0),
  is: (value, wanted) => (value !== undefined && value !== null && value !== "") === (wanted === "set"),
  between(value, wanted) {
    if (!Array.isArray(wanted) || wanted.length !== 2) throw new ValidationError("Operator between needs two values");
    return compare(value, wanted[0]) >= 0 && compare(value, wanted[1]) <= 0;
  },
};

function listOf(operator, wanted) {
  if (!Array.isArray(wanted)) throw new ValidationError(`Operator ${operator} needs a list`);
  return wanted;
}

function holds(document, filter) {
  if (!Array.isArray(filter) || filter.length !== 3) {
    throw new ValidationError("a filter is [field, operator, value]", { type: "DataError" });
  }
  const [field, operator, wanted] = filter;
  const name = String(operator).toLowerCase();
  if (!Object.hasOwn(operators, name)) {
    throw new NotImplementedError(`the host of tests has no operator ${operator}: stage the answer with host.on`);
  }
  return operators[name](document[field], wanted);
}

function matching(capability, { doctype, filters, or_filters }) {
  need(capability, "doctype", doctype);
  return table(doctype).filter((d) => (filters ?? []).every((f) => holds(d, f)) &&
    (!or_filters?.length || or_filters.some((f) => holds(d, f))));
}

function list(request) {
  if (request.group_by) throw new NotImplementedError("the host of tests does not group: stage the answer of doc_list with host.on");
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
