// Fields that clients send and this server does not follow. They are accepted, so that clients keep working, described as
// ignored in the API's description, and named in the answer's header. Used by the requests of each endpoint.
import { z } from "zod";

import { optionalField } from "./absent.ts";

interface Ignored {
  /** Whether a reply is what this value asks for anyway: then nothing is ignored. */
  isKept: (value: unknown) => boolean;
}

/** Characters of an ignored text: longer than every value that asks for what is done anyway. */
const ignoredTextMax = 64;

const ignored = z.registry<Ignored>();

/** `kept` are the values that ask for what is done anyway; an empty list asks for nothing. */
export function ignoredField(description: string, kept: readonly (string | number | boolean)[] = []) {
  const values = new Set<unknown>(kept);
  const schema = optionalField(z.unknown().transform(withoutContent), {
    description: `Ignored: ${description}.`,
  });
  return schema.register(ignored, {
    isKept: (value) => values.has(value) || (Array.isArray(value) && value.length === 0),
  });
}

/** Only whether there is something matters; millions of numbers would cross from the checking thread to the server's for nothing. */
function withoutContent(value: unknown): unknown {
  if (Array.isArray(value)) return value.slice(0, 1).map(() => true);
  if (typeof value === "object" && value !== null) return {};
  return typeof value === "string" ? value.slice(0, ignoredTextMax) : value;
}

/** The names of those fields of a checked body that were ignored. */
export function ignoredFieldsOf(schema: unknown, body: unknown): string[] {
  if (!(schema instanceof z.ZodObject) || typeof body !== "object" || body === null) return [];
  return Object.entries(schema.shape).flatMap(([name, field]) => {
    const value: unknown = Reflect.get(body, name);
    const meant = ignored.get(field);
    return meant === undefined || value === undefined || meant.isKept(value) ? [] : [name];
  });
}

const samplers = "no such sampler";

/** How other servers sample beyond the fields that stand here; each with the value that turns it off. */
export const ignoredSampling = {
  mirostat: ignoredField(samplers, [0]),
  typical_p: ignoredField(samplers, [1]),
  top_n_sigma: ignoredField(samplers, [-1]),
  dry_multiplier: ignoredField(samplers, [0]),
  xtc_probability: ignoredField(samplers, [0]),
  dynatemp_range: ignoredField(samplers, [0]),
  samplers: ignoredField("the order of samplers is fixed"),
  min_tokens: ignoredField("a reply ends where the model ends it", [0]),
  n_predict: ignoredField("another server's name of max_tokens"),
  thinking_budget_tokens: ignoredField("what bounds thinking is the limit of tokens", [-1]),
};

/** What hosted services take beside a request. */
export const ignoredService = {
  service_tier: ignoredField("there is one kind of service", [
    "auto",
    "default",
    "standard",
    "standard_only",
  ]),
  prompt_cache_retention: ignoredField("how long computed prompts are kept depends on memory alone"),
};
