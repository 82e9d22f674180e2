// A little shop. There is nothing to build: this file in the server's plugins
// folder is the plugin acme.shop, and its exported functions are methods.
/// <reference path="../../sdk/js/armature.d.ts" />

export const manifest = {
  description: "Items with a stock, and orders that use it up",
  methods: {
    price: { verbs: ["GET"], allow_guest: true },
    order: {
      verbs: ["POST"],
      args: {
        type: "object",
        properties: { item: { type: "string" }, qty: { type: "integer", minimum: 1 } },
        required: ["item"],
      },
    },
  },
  // It has its own items without asking, and needs nothing else.
  grants: [],
  events: { "Shop Item.validate": { export: "check", sets: ["label"] } },
  doctypes: [
    {
      name: "Shop Item",
      autoname: "field:item_code",
      fields: [
        { fieldname: "item_code", fieldtype: "Data", reqd: 1 },
        { fieldname: "rate", fieldtype: "Float" },
        { fieldname: "stock", fieldtype: "Int" },
        { fieldname: "label", fieldtype: "Data" },
      ],
      permissions: [{ role: "System Manager", read: 1, write: 1, create: 1, delete: 1 }],
    },
  ],
};

interface Item extends Doc {
  item_code: string;
  rate: number;
  stock: number;
  label: string;
}

/** What a number of pieces costs, before there is any item. */
export function price({ rate, qty = "1" }: { rate: string; qty?: string }) {
  const total = Number(rate) * Number(qty);
  if (Number.isNaN(total)) throw new ValidationError("rate and qty are numbers");
  return { total, user: caller.user };
}

/** Takes pieces out of the stock. If there are too few, nothing changes. */
export async function order({ item, qty = 1 }: { item: string; qty?: number }) {
  const it = doc.get<Item>("Shop Item", item);
  if (it.stock < qty) {
    throw new ValidationError(`Only ${it.stock} of ${item} left`, { type: "OutOfStockError" });
  }
  doc.update("Shop Item", item, { stock: it.stock - qty });
  log.info("ordered", { item, qty });
  return { id: crypto.randomUUID(), total: it.rate * qty, left: it.stock - qty };
}

/** Runs before an item is written, whoever writes it. What it returns is set. */
export function check({ doc: item }: DocEvent<Item>) {
  if (item.rate < 0) throw new ValidationError("A rate is not negative");
  return { label: `${item.item_code.toUpperCase()} at ${(item.rate ?? 0).toFixed(2)}` };
}
