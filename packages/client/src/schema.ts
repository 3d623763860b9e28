// The interface to any schema library: the Standard Schema and Standard JSON Schema conventions
// (https://standardschema.dev), which zod 4.2, ArkType and others implement.
import { IngleError } from "./errors.ts";
import type { SchemaIssue } from "./errors.ts";

type Checked<Value> =
  | { readonly value: Value; readonly issues?: undefined }
  | { readonly issues: readonly SchemaIssue[] };

/** A schema that checks values. */
export interface StandardSchema<Value> {
  readonly "~standard": {
    readonly validate: (value: unknown) => Checked<Value> | Promise<Checked<Value>>;
  };
}

/** A schema that checks values and can be converted to a JSON schema, to which the server constrains a reply. */
export interface ValueSchema<Value> {
  readonly "~standard": StandardSchema<Value>["~standard"] & {
    readonly jsonSchema: { readonly input: (options: { target: "draft-2020-12" }) => JsonSchema };
  };
}

/** A JSON schema: an object. */
export type JsonSchema = Record<string, unknown>;

/** Combines a JSON schema with a schema that cannot be converted to one (zod/mini, older versions, other libraries). */
export function withJsonSchema<Value>(
  schema: StandardSchema<Value>,
  jsonSchema: JsonSchema,
): ValueSchema<Value> {
  const { validate } = schema["~standard"];
  return { "~standard": { validate, jsonSchema: { input: () => jsonSchema } } };
}

/**
 * The JSON schema of the schema's input, which the model generates; transformations run afterwards, in the client.
 * @throws IngleError if the schema cannot be converted.
 */
export function toJsonSchema(schema: ValueSchema<unknown>): JsonSchema {
  // Callers in JavaScript, or with a cast, may pass a schema without it.
  const { jsonSchema }: { jsonSchema?: ValueSchema<unknown>["~standard"]["jsonSchema"] } =
    schema["~standard"];
  if (jsonSchema === undefined)
    throw new IngleError("this schema cannot be converted to a JSON schema: use withJsonSchema(schema, …)");
  return jsonSchema.input({ target: "draft-2020-12" });
}

/** Checks a value. `sentence` lists the issues, such as `address.city: expected string`. */
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
