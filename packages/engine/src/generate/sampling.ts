// Sampling options and limits of a generation.
import {
  generationOptions,
  optionNames,
  samplerNames,
  type GenerationOption,
  type OptionValues,
} from "@ingle/generation-options";
import { z } from "zod";
import { LogitBias } from "./logit-bias.ts";

/** Maximum number of alternatives reported for each token. */
const logprobsMax = 20;

/**
 * Maximum number of log probabilities of a prompt: its tokens, each with its alternatives. They are kept until the reply ends, and take
 * about 250 bytes each.
 */
export const promptLogprobsMax = 262_144;

/** Those without a default may be absent. Editors show the comments of `OptionValues`. */
type OptionSchemas = {
  [Name in keyof OptionValues]-?: undefined extends OptionValues[Name]
    ? z.ZodOptional<Checks<NonNullable<OptionValues[Name]>>>
    : z.ZodDefault<Checks<OptionValues[Name]>>;
};
type Checks<Value> = z.ZodType<Value, Value>;

function optionSchemas(): OptionSchemas {
  const schemas = optionNames.map((name) => {
    const option: GenerationOption = generationOptions[name];
    const schema = optionSchema(option);
    return [name, "default" in option ? schema.default(option.default) : schema.optional()];
  });
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the type is computed from the table as the value is
  return Object.fromEntries(schemas) as OptionSchemas;
}

function optionSchema(option: GenerationOption): z.ZodType {
  switch (option.kind) {
    case "number":
    case "integer": {
      const { kind, above = -Infinity, min, max = Infinity } = option;
      const schema: z.ZodNumber = kind === "number" ? z.number() : z.int();
      return (min === undefined ? schema.gt(above) : schema.min(min)).max(max);
    }
    case "limit":
      return z.int().min(-1);
    case "seed":
      return z.int();
    case "texts":
    case "stops":
      return z.array(z.string().min(1).max(option.lengthMax)).max(option.max);
    case "bias":
      return LogitBias;
    case "samplers":
      return z
        .array(z.enum(samplerNames).meta({ id: "SamplerName" }))
        .max(samplerNames.length)
        .refine((names) => new Set(names).size === names.length, "must name each sampler once");
  }
}

const Options = z.object(optionSchemas());
const limits = { maxTokens: true, minTokens: true, stop: true } as const;

/** Its type is named here, because a declaration file that spelled it out would have no comments for editors. */
export const Sampling: z.ZodObject<Omit<OptionSchemas, keyof typeof limits>> = Options.omit(limits).meta({
  id: "Sampling",
});
export type Sampling = z.infer<typeof Sampling>;

export const Limits = z
  .object({
    ...Options.pick(limits).shape,
    /** Continues after the model's end-of-text token, for benchmarks. Default false. */
    ignoreEos: z.boolean().default(false),
    /**
     * What the reply will probably repeat, such as the file that it changes: its tokens are drafted and verified several at a time,
     * which is faster where the reply repeats it and never changes the reply. Default: none. Ignored with a draft model, and for
     * recurrent and hybrid models; of a longer one, the first 1,048,576 characters are used.
     */
    prediction: z.string().default(""),
    /** Reuses the computed prefix of earlier requests, and keeps this prompt for later ones. Default true. */
    cachePrompt: z.boolean().default(true),
    /**
     * Shares computed prefixes, drafts from earlier replies and slots only with requests of the same salt, up to 1,024 characters: nobody
     * else can tell from a reply's time whether this prompt was computed before. What comes before a slash in it names an owner: salts of one
     * owner share one part of the memory. Default: shared by all requests without a salt.
     */
    cacheSalt: z.string().min(1).max(1_024).optional(),
    /**
     * The slot of `model.slots` that names the request's text once it has ended, below `parallel`. Default: the idle slot whose last
     * prompt is most similar, or the one that was used longest ago.
     */
    idSlot: z.int().min(0).optional(),
    /** Returns the log probability of each token and of this many alternatives. Default: none. */
    logprobs: z.int().min(0).max(logprobsMax).optional(),
    /**
     * Returns the log probability of each token of the prompt and of this many alternatives, at most 262,144 in all. Not for prompts with
     * images. The prompt is computed without the prefix cache, a few tokens at a time. With `logprobs`, the log probabilities of the reply
     * then include the token that ends it. Default: none.
     */
    promptLogprobs: z.int().min(0).max(logprobsMax).optional(),
    /** Yields a chunk with `prompt` whenever a part of the prompt is computed. Default false. */
    reportsPrompt: z.boolean().default(false),
  })
  .meta({ id: "Limits" });
export type Limits = z.infer<typeof Limits>;

/** Adds an issue for each option that contradicts another one. */
export function refineSampling(
  { mirostat, adaptiveTarget, minTokens, maxTokens }: Sampling & Limits,
  context: z.RefinementCtx,
): void {
  const refuse = (option: string, message: string): void =>
    context.addIssue({ code: "custom", path: [option], message });
  if (mirostat > 0 && adaptiveTarget >= 0)
    refuse("adaptiveTarget", "adaptive-p and mirostat exclude each other: both decide how likely tokens are");
  if (maxTokens !== undefined && maxTokens >= 0 && minTokens > maxTokens)
    refuse("minTokens", "must be at most maxTokens");
}
