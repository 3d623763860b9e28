// Fields that clients send and the server ignores. They are accepted so that clients keep working, marked as ignored in the
// API description, and named in a response header.
import { z } from "zod";

import { optionalField } from "./optional-field.ts";

interface Ignored {
  /** Whether this value asks for what the server does anyway. */
  isNoChange: (value: unknown) => boolean;
}

/** The UTF-16 units that are kept of an ignored string: longer than every harmless value. */
const ignoredTextMax = 64;

const ignored = z.registry<Ignored>();

/** `harmless` are the values that ask for what the server does anyway; so does an empty list. */
export function ignoredField(description: string, harmless: readonly (string | number | boolean)[] = []) {
  const values = new Set<unknown>(harmless);
  const schema = optionalField(z.unknown().transform(withoutContent), {
    description: `Ignored: ${description}.`,
  });
  return schema.register(ignored, {
    isNoChange: (value) => values.has(value) || (Array.isArray(value) && value.length === 0),
  });
}

/** Only presence matters: without this, millions of numbers would pass from the checking thread to the server's. */
function withoutContent(value: unknown): unknown {
  if (Array.isArray(value)) return value.slice(0, 1).map(() => true);
  if (typeof value === "object" && value !== null) return {};
  return typeof value === "string" ? value.slice(0, ignoredTextMax) : value;
}

/** The names of the ignored fields in a checked body, except those whose value changes nothing. */
export function ignoredFieldsOf(schema: unknown, body: unknown): string[] {
  if (!(schema instanceof z.ZodObject) || typeof body !== "object" || body === null) return [];
  return Object.entries(schema.shape).flatMap(([name, field]) => {
    const value: unknown = Reflect.get(body, name);
    const entry = ignored.get(field);
    return entry === undefined || value === undefined || entry.isNoChange(value) ? [] : [name];
  });
}

const sampler = "this sampler is not supported";

/** Other servers' sampling fields, each with the value that turns it off. */
export const ignoredSampling = {
  mirostat: ignoredField(sampler, [0]),
  typical_p: ignoredField(sampler, [1]),
  top_n_sigma: ignoredField(sampler, [-1]),
  dry_multiplier: ignoredField(sampler, [0]),
  xtc_probability: ignoredField(sampler, [0]),
  dynatemp_range: ignoredField(sampler, [0]),
  samplers: ignoredField("the order of samplers is fixed"),
  min_tokens: ignoredField("the model decides when a reply ends", [0]),
  n_predict: ignoredField("use max_tokens"),
  thinking_budget_tokens: ignoredField("use max_tokens to limit thinking", [-1]),
};

/** Fields of hosted services. */
export const ignoredService = {
  service_tier: ignoredField("there is one service tier", ["auto", "default", "standard", "standard_only"]),
  prompt_cache_retention: ignoredField("the prefix cache keeps prompts as long as memory allows"),
};
