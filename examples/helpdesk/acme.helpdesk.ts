// A help desk. Customers open tickets and see their own; agents see all and answer.
// There is nothing to build: this file in the server's plugins folder is the plugin.
/// <reference path="../../sdk/js/armature.d.ts" />

export const manifest = {
  description: "Tickets of customers, and agents who answer them",
  methods: {
    answer: {
      verbs: ["POST"],
      roles: ["Support Agent"],
      args: {
        type: "object",
        properties: { ticket: { type: "string" }, text: { type: "string", minLength: 1 } },
        required: ["ticket", "text"],
      },
    },
  },
  // It has its own tickets without asking, and needs nothing else.
  grants: [],
  events: { "Ticket.validate": { export: "check", sets: ["status"] } },
  doctypes: [
    {
      name: "Ticket",
      fields: [
        { fieldname: "subject", fieldtype: "Data", reqd: 1 },
        { fieldname: "description", fieldtype: "Text" },
        { fieldname: "status", fieldtype: "Select", options: "Open\nAnswered\nClosed", default: "Open" },
        { fieldname: "answer", fieldtype: "Text" },
      ],
      permissions: [
        // Whoever is logged in sees and changes tickets of their own, until they are closed.
        { role: "All", read: 1, create: 1, condition: '[["owner","=","$user"]]' },
        { role: "All", write: 1, condition: '[["owner","=","$user"],["status","!=","Closed"]]' },
        { role: "Support Agent", read: 1, write: 1 },
        { role: "System Manager", read: 1, write: 1, create: 1, delete: 1 },
      ],
    },
  ],
};

interface Ticket extends Doc {
  subject: string;
  status: "Open" | "Answered" | "Closed";
  answer?: string;
}

/** Answers a ticket, which makes it Answered. For agents alone. */
export function answer({ ticket, text }: { ticket: string; text: string }) {
  const t = doc.get<Ticket>("Ticket", ticket);
  if (t.status === "Closed") throw new ValidationError("The ticket is closed", { type: "TicketClosedError" });
  doc.update("Ticket", ticket, { answer: text });
  return { ticket, status: "Answered" };
}

/** Runs before a ticket is written, whoever writes it. What it returns is set. */
export function check({ doc: ticket }: DocEvent<Ticket>) {
  if (ticket.subject.trim().length < 3) throw new ValidationError("Say in a few words what it is about");
  if (ticket.answer && ticket.status === "Open") return { status: "Answered" };
  return {};
}
