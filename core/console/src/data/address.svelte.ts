/** Where the person is: all state that means something is in the address. */
export class Address {
  path = $state(location.pathname);
  query = $state.raw(new URLSearchParams(location.search));

  constructor() {
    addEventListener("popstate", () => this.#read());
  }

  #read(): void {
    this.path = location.pathname;
    this.query = new URLSearchParams(location.search);
  }

  /** Goes to an address of the site; one that is no view of this program is another page. */
  go(href: string, replace = false): void {
    if (!ours.test(new URL(href, location.href).pathname)) {
      location.assign(href);
      return;
    }
    if (replace) history.replaceState(null, "", href);
    else history.pushState(null, "", href);
    this.#read();
  }

  /** Changes some arguments of the address; null takes one out. */
  set(changes: { [name: string]: string | null }): void {
    const query = new URLSearchParams(this.query);
    for (const [name, value] of Object.entries(changes)) {
      if (value === null || value === "") query.delete(name);
      else query.set(name, value);
    }
    const text = query.toString();
    this.go(this.path + (text ? "?" + text : ""), true);
  }

  /** The parts of the path behind /app, each as it was before it was encoded. */
  get parts(): string[] {
    return this.path.split("/").slice(2).filter((p) => p !== "").map(decoded);
  }
}

function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part; // somebody has typed it
  }
}

export const address = new Address();

export const places = {
  home: "/app/d",
  list: (doctype: string) => "/app/d/" + encodeURIComponent(doctype),
  document: (doctype: string, name: string) => places.list(doctype) + "/" + encodeURIComponent(name),
  make: (doctype: string) => "/app/new/" + encodeURIComponent(doctype),
  types: "/app/types",
  type: (name: string) => "/app/types/" + encodeURIComponent(name),
  makeType: "/app/new-type",
  keys: "/app/keys",
};

const ours = /^\/app\/(d|new|types|new-type)(\/.*)?$/;

/** Keeps links between views in the page. */
export function followLinks(event: MouseEvent): void {
  if (event.defaultPrevented || event.button !== 0 || event.ctrlKey || event.metaKey || event.shiftKey || event.altKey) return;
  const link = (event.target as Element | null)?.closest("a");
  if (!link || link.target || link.hasAttribute("download") || link.origin !== location.origin || !ours.test(link.pathname)) return;
  event.preventDefault();
  address.go(link.pathname + link.search);
}
