// The request of a generation and its rules.
import type { OptionValues } from "@ingle/generation-options";
import { z } from "zod";
import { AdapterUses } from "./adapter-options.ts";
import { invalidOption } from "../base/issue-message.ts";
import { Prompt } from "../prompt/prompt.ts";
import { ResponseFormat } from "../prompt/response-format.ts";
import { Limits, refineSampling, Sampling } from "./sampling.ts";

const Options = z
  .object({
    ...Sampling.shape,
    ...Limits.shape,
    /** Adapters that the model was loaded with (`LoadOptions.adapters`), for this request. Default: none. */
    adapters: AdapterUses.default([]),
    /** The required form of the reply's text. Default: any text. */
    responseFormat: ResponseFormat.default({ type: "text" }),
  })
  .superRefine(refineSampling);

export const GenerationRequest = z.intersection(Prompt, Options).meta({ id: "GenerationRequest" });
/** A request as callers write it: only the prompt is required. `OptionValues` adds nothing but comments, which editors show. */
export type GenerationRequest = z.input<typeof GenerationRequest> & Partial<OptionValues>;
export type CheckedGenerationRequest = z.output<typeof GenerationRequest>;

/**
 * Checks a request; throws `invalid_request` with the field's path in `details.param`. The two parts of the schema share no field, so
 * they are joined here: the schema would merge them field by field, which takes longer than all checks.
 */
export function checkGenerationRequest(request: GenerationRequest): CheckedGenerationRequest {
  const prompt = Prompt.safeParse(request);
  if (!prompt.success) throw invalidOption(prompt.error, firstIssue(prompt.error));
  const options = Options.safeParse(request);
  if (!options.success) throw invalidOption(options.error, firstIssue(options.error));
  return Object.assign(prompt.data, options.data);
}

/** If no kind of prompt matches, the issue of the kind that was evidently meant: the deepest one. */
function firstIssue({ issues: [issue] }: z.ZodError): z.core.$ZodIssue | undefined {
  if (issue?.code !== "invalid_union") return issue;
  const ofEach = issue.errors.flatMap((issues) => issues.slice(0, 1));
  return ofEach.toSorted((one, other) => other.path.length - one.path.length)[0];
}
