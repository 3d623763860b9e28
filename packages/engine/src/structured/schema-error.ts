// The error for a schema that cannot be converted to a grammar.

/** `cannot_enforce`: the schema is valid, but a grammar cannot enforce a part of it. */
export type SchemaErrorKind = "wrong" | "cannot_enforce";

export class SchemaError extends Error {
  override readonly name = "SchemaError";
  readonly kind: SchemaErrorKind;

  constructor(kind: SchemaErrorKind, message: string) {
    super(message);
    this.kind = kind;
  }
}
