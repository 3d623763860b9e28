// The order of the samplers, as a request gives it: names, or llama-server's letters.
import { generationOptions, samplerLetters, samplerNames, type SamplerName } from "@ingle/generation-options";
import { z } from "zod";

import { optionalField } from "./field.ts";
import { boundedArray } from "./size-precheck.ts";

const byLetter = new Map<string, SamplerName>(samplerNames.map((name) => [samplerLetters[name], name]));

/** Other names that llama-server knows, without lines between the words. */
const aliases: Readonly<Record<string, SamplerName>> = {
  typp: "typical_p",
  typ: "typical_p",
  nucleus: "top_p",
  temp: "temperature",
};

function withoutLines(name: string): string {
  return name.toLowerCase().replaceAll(/[-_]/g, "");
}

const byName = new Map<string, SamplerName>([
  ...samplerNames.map((name) => [withoutLines(name), name] as const),
  ...Object.entries(aliases),
]);

const rule = `samplers must be an array of ${samplerNames.join(", ")}, each at most once, or a string of the letters ${[...byLetter.keys()].join("")}`;

function toNames(given: string | string[], context: z.RefinementCtx): SamplerName[] {
  const found = typeof given === "string" ? Array.from(given, (letter) => byLetter.get(letter)) : [];
  if (Array.isArray(given)) found.push(...given.map((name) => byName.get(withoutLines(name))));
  const known = found.filter((name) => name !== undefined);
  if (known.length === found.length && new Set(known).size === known.length) return known;
  context.addIssue({ code: "custom", message: rule });
  return z.NEVER;
}

const { help, fieldNote } = generationOptions.samplers;

export const samplersField = optionalField(
  z
    .union(
      [
        z.string().max(samplerNames.length, rule),
        boundedArray(z.string(rule).max(32, rule), rule, { max: samplerNames.length }),
      ],
      rule,
    )
    .transform(toNames),
  `${help} ${fieldNote}`,
  samplerNames,
);
