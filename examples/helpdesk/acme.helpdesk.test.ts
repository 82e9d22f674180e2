/// <reference path="../../sdk/js/armature-test.d.ts" />
import { test, beforeEach, assert, site } from "armature:test";

let ticket = "";

beforeEach(() => {
  site.actAs("zoe@example.com", "Blogger");
  ticket = doc.insert("Ticket", { subject: "No tea" }).name;
});

const status = () => doc.get("Ticket", ticket).status;

test("a customer sees tickets of their own alone", () => {
  assert.equal(doc.count("Ticket"), 1);
  site.actAs("max@example.com", "Blogger");
  assert.equal(doc.count("Ticket"), 0);
  assert.throws(() => doc.get("Ticket", ticket), PermissionError);
});

test("an agent answers, and nobody else", () => {
  assert.throws(() => site.call("answer", { ticket, text: "Here it is" }), PermissionError);
  site.actAs("ann@example.com", "Support Agent");
  assert.deepEqual(site.call("answer", { ticket, text: "Here it is" }), { ticket, status: "Answered" });
  assert.equal(status(), "Answered");
});

test("an agent closes a ticket, and then it stays as it is", () => {
  assert.throws(() => doc.update("Ticket", ticket, { status: "Closed" }), PermissionError);
  site.actAs("ann@example.com", "Support Agent");
  doc.update("Ticket", ticket, { status: "Closed" });
  site.actAs("zoe@example.com", "Blogger");
  assert.throws(() => doc.update("Ticket", ticket, { subject: "Still no tea" }), PermissionError);
  site.actAs("ann@example.com", "Support Agent");
  assert.throws(() => site.call("answer", { ticket, text: "Late" }), { type: "TicketClosedError" });
});

test("a ticket says what it is about", () => {
  assert.throws(() => doc.insert("Ticket", { subject: "?" }), ValidationError);
});
