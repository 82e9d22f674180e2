// What the console knows of a site's DocTypes before it has asked: nothing. They are asked
// for while it runs, so their documents are open objects here, and no call is refused by the
// compiler for its DocType.

/** A value as the API sends and takes it. */
export type Value = string | number | boolean | null | undefined | Row[];

/** A document, or a row of a table. */
export interface Row {
  name?: string;
  [field: string]: Value;
}

export interface DocTypes {
  [name: string]: {
    document: Row;
    rights: "read" | "write" | "create" | "delete" | "submit" | "cancel";
    single: boolean;
    mandatory: never;
  };
}

export interface Methods {
  [path: string]: { verbs: "GET" | "POST"; args: { [name: string]: unknown }; result: unknown };
}
