import { Armature, ArmatureError, type UploadedFile, type UploadOptions } from "./armature.ts";
import type { Row } from "./doctypes.ts";

export { ArmatureError };
export type { Row, UploadedFile };
export type { Value } from "./doctypes.ts";

/** [field, operator, value], or conditions with the words "and" and "or" between them. */
export type Filter = [field: string, operator: string, value: unknown];
export type Filters = readonly unknown[];

/** Who is logged in, as the server's page says it. */
export interface Session {
  site: string;
  user: string;
  full_name: string;
  csrf_token: string;
  manager: boolean;
}

export interface ListOptions {
  fields: readonly string[];
  filters?: Filters;
  /** Several fields are separated by commas, each with its direction. */
  order?: string;
  start?: number;
  limit?: number;
  group?: string;
}

/** What a site is asked for. The methods of the generated client, for DocTypes that are known while it runs. */
interface Client {
  read(doctype: string, name: string): Promise<Row>;
  create(doctype: string, values: Row): Promise<Row>;
  update(doctype: string, name: string, changes: Row): Promise<Row>;
  delete(doctype: string, name: string): Promise<void>;
  batch(operations: readonly object[]): Promise<unknown[]>;
  call(method: string, args?: object): Promise<unknown>;
  query(method: string, args?: object): Promise<unknown>;
  upload(file: Blob, options?: UploadOptions): Promise<UploadedFile>;
}

const sessionAddress = "/app/session.json";

/** A site, as whoever is logged in, which may have to be done again while somebody works. */
export class Site {
  session: Session;
  #client: Client;
  /** Asks the person to log in again; ends when that is done. */
  readonly #login: () => Promise<void>;
  #waiting: Promise<void> | undefined;

  constructor(session: Session, login: () => Promise<void>) {
    this.session = session;
    this.#login = login;
    this.#client = connect(session);
  }

  read = (doctype: string, name: string) => this.#ask((c) => c.read(doctype, name));
  create = (doctype: string, values: Row) => this.#ask((c) => c.create(doctype, values));
  update = (doctype: string, name: string, changes: Row) => this.#ask((c) => c.update(doctype, name, changes));
  remove = (doctype: string, name: string) => this.#ask((c) => c.delete(doctype, name));
  batch = (operations: readonly object[]) => this.#ask((c) => c.batch(operations));
  upload = (file: Blob, options?: UploadOptions) => this.#ask((c) => c.upload(file, options));
  call = <T>(method: string, args: object = {}) => this.#ask((c) => c.call(method, args)) as Promise<T>;
  query = <T>(method: string, args: object = {}) => this.#ask((c) => c.query(method, args)) as Promise<T>;

  list(doctype: string, o: ListOptions): Promise<Row[]> {
    return this.query("framework.client.get_list", {
      doctype, fields: o.fields, filters: o.filters ?? [], order_by: o.order, limit_start: o.start ?? 0, limit_page_length: o.limit ?? 20, group_by: o.group,
    });
  }

  count(doctype: string, filters: Filters = []): Promise<number> {
    return this.query("framework.client.get_count", { doctype, filters });
  }

  /** Logs in again, as the same user. Errors: those of the login. */
  async logIn(password: string, otp?: string): Promise<void> {
    const anyone = new Armature() as unknown as Client;
    await anyone.call("login", { usr: this.session.user, pwd: password, ...(otp ? { otp } : {}) });
    await this.renew();
  }

  /** Asks who is logged in by now, and goes on as that user if it is the same. */
  async renew(): Promise<boolean> {
    const answer = await fetch(sessionAddress, { headers: { Accept: "application/json" }, cache: "no-store" });
    if (!answer.ok) return false;
    const now = (await answer.json()) as Session;
    if (now.user !== this.session.user) return false;
    this.session = now;
    this.#client = connect(now);
    return true;
  }

  /** Asks; where nobody is logged in any more, once more after the login. */
  async #ask<T>(question: (c: Client) => Promise<T>): Promise<T> {
    for (let tries = 0; ; tries++) {
      const token = this.session.csrf_token;
      try {
        return await question(this.#client);
      } catch (error) {
        if (!(error instanceof ArmatureError) || tries >= 2 || !doubtful(error)) throw error;
        if (await this.renew()) {
          if (this.session.csrf_token === token) throw error; // it is about what was asked
          continue;
        }
        this.#waiting ??= this.#login().finally(() => (this.#waiting = undefined));
        await this.#waiting;
      }
    }
  }
}

function connect(session: Session): Client {
  return new Armature({ csrfToken: session.csrf_token }) as unknown as Client;
}

/** An answer that may mean that the session has ended, or has another token. */
function doubtful(error: ArmatureError): boolean {
  return error.status === 401 || error.status === 403 || error.exc_type === "CSRFTokenError";
}
