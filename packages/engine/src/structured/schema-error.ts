// Why a schema cannot be turned into a grammar. Used by json-schema.ts and what writes parts for it.

/** `cannot_enforce`: the schema is right, but no grammar can hold a reply to this part of it. */
export type SchemaErrorKind = "wrong" | "cannot_enforce";

export class SchemaError extends Error {
  override readonly name = "SchemaError";
  readonly kind: SchemaErrorKind;

  constructor(kind: SchemaErrorKind, message: string) {
    super(message);
    this.kind = kind;
  }
}
