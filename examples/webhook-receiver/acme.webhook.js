// Receives webhooks that are signed as Standard Webhooks says
// (https://www.standardwebhooks.com): anybody may call receive, and only who
// knows the secret is listened to.
/// <reference path="../../sdk/js/armature.d.ts" />

export const manifest = {
  description: "Receives signed webhooks, each of them once",
  methods: { receive: { verbs: ["POST"], allow_guest: true } },
  // Guest may not write Webhook Deliveries, or anybody could by REST. What checks
  // the signature may, so this plugin does that and nothing else.
  grants: ["elevated"],
  limits: { input: 262144 },
  doctypes: [
    {
      name: "Received Webhook",
      autoname: "field:delivery_id",
      fields: [
        { fieldname: "delivery_id", fieldtype: "Data", reqd: 1 },
        { fieldname: "sent_at", fieldtype: "Datetime", reqd: 1 },
        { fieldname: "event_type", fieldtype: "Data", search_index: 1, in_list_view: 1 },
        { fieldname: "payload", fieldtype: "Code", options: "JSON", ignore_xss_filter: 1 },
      ],
      permissions: [{ role: "System Manager", read: 1, delete: 1 }],
    },
  ],
};

/** Stores a delivery. The sender tries again until the answer is 200. */
export function receive() {
  const { id, timestamp } = verifyWebhook(secrets());
  // Below here the sender is known.
  if (!/^[\w.-]{1,120}$/.test(id)) throw new BadRequestError("The webhook's id is no name of a document");
  const payload = parse(request.body);
  try {
    doc.insert("Received Webhook", {
      delivery_id: id,
      sent_at: new Date(timestamp * 1000).toISOString().slice(0, 19).replace("T", " "),
      event_type: typeof payload.type === "string" ? payload.type.slice(0, 140) : "",
      payload: request.body,
    });
  } catch (e) {
    // The id is the document's name, so the database takes each once, however many
    // come at the same time. Whoever has sent it before is told that it is here.
    if (e instanceof ConflictError) return { received: id, again: true };
    throw e;
  }
  return { received: id };
}

/** @param {string} body */
function parse(body) {
  try {
    return Object(JSON.parse(body));
  } catch {
    throw new BadRequestError("The webhook is not JSON");
  }
}

/** There is more than one while a secret is being changed. */
function secrets() {
  /** @type {string[]} */
  const set = [config("secret", [])].flat();
  if (set.length === 0) throw new UnavailableError("acme.webhook has no secret yet");
  return set;
}
