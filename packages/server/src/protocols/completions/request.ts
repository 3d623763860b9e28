// A checked completion request in the engine's names.
import type { GenerationRequest, Model } from "@ingle/engine";
import { completionTokensDefault, promptsOf, type CompletionRequest } from "@ingle/protocol";
import { toResponseFormat, toSampling } from "../engine-fields.ts";
import type { VariantName } from "../../variants.ts";

type TextRequest = Extract<GenerationRequest, { prompt: unknown }>;

/** One request for each prompt. Fields that are absent stay absent: their defaults are the engine's. */
export function toTextRequests(body: CompletionRequest, variant: VariantName): TextRequest[] {
  const limited = { ...body, max_tokens: body.max_tokens ?? completionTokensDefault };
  const common = {
    ...toSampling(limited, variant),
    suffix: body.suffix,
    ignoreEos: body.ignore_eos,
    cachePrompt: body.cache_prompt,
    logprobs: body.logprobs,
    responseFormat: toResponseFormat(body),
  };
  return promptsOf(body.prompt).map((prompt) => ({ ...common, prompt }));
}

/** The text of a prompt, for `echo`. Of token ids, without the BOS token that is added to every text. */
export async function promptText(prompt: string | Int32Array, { info, tokenizer }: Model): Promise<string> {
  if (typeof prompt === "string") return prompt;
  const hasBos = info.addsBos && prompt[0] === info.tokens.bos;
  return tokenizer.decode(hasBos ? prompt.subarray(1) : prompt, { specials: true });
}
