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

/** Seconds that a delivery may be old, or the sender's clock ahead of ours. */
const TOLERANCE = 300;

/** Stores a delivery. The sender tries again until the answer is 200. */
export async function receive() {
  const id = header("webhook-id");
  const time = header("webhook-timestamp");
  const body = request.body; // as it was sent: JSON that was parsed and written again is other bytes
  if (!/^[\w.-]{1,120}$/.test(id) || !/^\d{1,12}$/.test(time) || !(await signed(`${id}.${time}.${body}`))) {
    throw new AuthenticationError("The webhook is not signed as agreed");
  }
  // Below here the sender is known. An old delivery may be one that somebody else
  // has recorded and sends again.
  if (Math.abs(Date.now() / 1000 - Number(time)) > TOLERANCE) {
    throw new AuthenticationError("The webhook is too old, or a clock is wrong");
  }
  const payload = parse(body);
  try {
    doc.insert("Received Webhook", {
      delivery_id: id,
      sent_at: new Date(Number(time) * 1000).toISOString().slice(0, 19).replace("T", " "),
      event_type: typeof payload.type === "string" ? payload.type.slice(0, 140) : "",
      payload: body,
    });
  } catch (e) {
    // The id is the document's name, so the database takes each once, however many
    // come at the same time. Whoever has sent it before is told that it is here.
    if (e instanceof ConflictError) return { received: id, again: true };
    throw e;
  }
  return { received: id };
}

/** @param {string} name */
const header = (name) => request.headers.get(name) ?? "";

/** @param {string} body */
function parse(body) {
  try {
    return Object(JSON.parse(body));
  } catch {
    throw new BadRequestError("The webhook is not JSON");
  }
}

/**
 * Reports whether one of the signatures, "v1,<base64> v1,<base64>", is the text's
 * by one of our secrets. There is more than one of either while a secret is being
 * changed. verify compares in constant time.
 * @param {string} text
 */
async function signed(text) {
  const bytes = new TextEncoder().encode(text);
  const signatures = header("webhook-signature").split(" ").slice(0, 8).flatMap(signature);
  for (const secret of secrets()) {
    const raw = base64(secret.replace(/^whsec_/, ""));
    const key = await crypto.subtle.importKey("raw", raw, { name: "HMAC", hash: "SHA-256" }, false, ["verify"]);
    for (const s of signatures) {
      if (await crypto.subtle.verify("HMAC", key, s, bytes)) return true;
    }
  }
  return false;
}

function secrets() {
  /** @type {string[]} */
  const set = [config("secret", [])].flat();
  if (set.length === 0) throw new UnavailableError("acme.webhook has no secret yet");
  return set;
}

/**
 * The bytes of a signature; none of one that is of another scheme or no base64.
 * @param {string} text
 */
function signature(text) {
  if (!text.startsWith("v1,")) return [];
  try {
    return [base64(text.slice(3))];
  } catch {
    return [];
  }
}

/** @param {string} text */
const base64 = (text) => Uint8Array.from(atob(text), (c) => c.charCodeAt(0));
