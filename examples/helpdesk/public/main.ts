// The page of the help desk. The server hands it to browsers as JavaScript: there is
// nothing to build, and nothing to install.

interface Ticket {
  name: string;
  subject: string;
  status: string;
  answer: string | null;
}

const form = (id: string) => document.getElementById(id) as HTMLFormElement;
const message = document.getElementById("message")!;

/** Asks the server; what it refuses is thrown as it says it. */
async function ask<T>(path: string, body?: object): Promise<T> {
  const response = await fetch(path, body && {
    method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(body),
  });
  const answer = await response.json();
  if (!response.ok) throw new Error(typeof answer.message === "string" ? answer.message : answer.exc_type);
  return answer.data ?? answer.message;
}

function show(tickets: Ticket[]) {
  const items = tickets.map((t) => {
    const item = document.createElement("li");
    item.append(`${t.subject} (${t.status})`); // as text: what people write is no markup
    if (t.answer) {
      const answer = document.createElement("blockquote");
      answer.textContent = t.answer;
      item.append(answer);
    }
    return item;
  });
  document.getElementById("tickets")!.replaceChildren(...items);
}

async function refresh() {
  const { user } = await ask<{ user: string }>("/api/method/framework.realtime.get_user_info");
  const known = user !== "Guest";
  form("login").hidden = known;
  form("open").hidden = !known;
  const fields = encodeURIComponent(JSON.stringify(["name", "subject", "status", "answer"]));
  show(known ? await ask<Ticket[]>(`/api/resource/Ticket?fields=${fields}&order_by=creation+desc`) : []);
}

/** Has a form do something, and shows what comes of it. */
function on(id: string, act: (values: Record<string, string>) => Promise<unknown>) {
  form(id).addEventListener("submit", async (event) => {
    event.preventDefault();
    message.textContent = "";
    try {
      await act(Object.fromEntries(new FormData(form(id))) as Record<string, string>);
      form(id).reset();
      await refresh();
    } catch (error) {
      message.textContent = (error as Error).message;
    }
  });
}

on("login", (values) => ask("/api/method/login", values));
on("open", (values) => ask("/api/resource/Ticket", values));
await refresh();
