// What the client asks of a schema library, without knowing one: the Standard Schema and Standard JSON Schema conventions
// (https://standardschema.dev), which zod 4.2, ArkType and others follow by themselves. Used by structured.ts and run-tools.ts.
import { IngleError } from "./errors.ts";

/** Something that a value got wrong, and where. */
export interface SchemaIssue {
  readonly message: string;
  readonly path?: readonly (PropertyKey | { readonly key: PropertyKey })[] | undefined;
}

type Checked<Value> =
  | { readonly value: Value; readonly issues?: undefined }
  | { readonly issues: readonly SchemaIssue[] };

/** A schema that checks values. */
export interface StandardSchema<Value> {
  readonly "~standard": {
    readonly validate: (value: unknown) => Checked<Value> | Promise<Checked<Value>>;
  };
}

/** A schema that checks values and can write itself as a JSON schema, for a server to hold a reply to it. */
export interface ValueSchema<Value> {
  readonly "~standard": StandardSchema<Value>["~standard"] & {
    readonly jsonSchema: { readonly input: (options: { target: "draft-2020-12" }) => JsonSchema };
  };
}

/** A JSON schema: an object. */
export type JsonSchema = Record<string, unknown>;

/** Joins a schema that cannot write itself as a JSON schema (zod/mini, older versions, other libraries) with one that is. */
export function withJsonSchema<Value>(
  schema: StandardSchema<Value>,
  jsonSchema: JsonSchema,
): ValueSchema<Value> {
  const { validate } = schema["~standard"];
  return { "~standard": { validate, jsonSchema: { input: () => jsonSchema } } };
}

/**
 * The JSON schema of what the model is to write, which is a schema's input: its transformations run afterwards, here.
 * @throws IngleError when the schema cannot write itself.
 */
export function jsonSchemaOf(schema: ValueSchema<unknown>): JsonSchema {
  // JavaScript, and types of older libraries behind a cast, come here without it.
  const { jsonSchema }: { jsonSchema?: ValueSchema<unknown>["~standard"]["jsonSchema"] } =
    schema["~standard"];
  if (jsonSchema === undefined)
    throw new IngleError("this schema cannot write itself as a JSON schema: use withJsonSchema(schema, …)");
  return jsonSchema.input({ target: "draft-2020-12" });
}

/** Checks a value; the issues as one sentence each, such as `address.city: expected string`. */
export async function check<Value>(
  schema: StandardSchema<Value>,
  value: unknown,
): Promise<{ value: Value } | { issues: readonly SchemaIssue[]; sentence: string }> {
  const checked = await schema["~standard"].validate(value);
  if (checked.issues === undefined) return { value: checked.value };
  return { issues: checked.issues, sentence: checked.issues.map(toSentence).join("; ") };
}

function toSentence({ message, path = [] }: SchemaIssue): string {
  const where = path.map((part) => String(typeof part === "object" ? part.key : part)).join(".");
  return where === "" ? message : `${where}: ${message}`;
}
