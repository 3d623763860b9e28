// A checked text completion request in the engine's names. Used by routes/completions.ts.
import type { GenerationRequest } from "@ingle/engine";
import { completionTokensDefault, type CompletionRequest } from "@ingle/protocol";
import { toResponseFormat } from "../to-response-format.ts";
import { toSampling } from "../engine-fields.ts";
import type { VariantName } from "../../variants.ts";

/** What the replies to all prompts have in common. Fields that are absent stay absent: their defaults are the engine's. */
export function toCommon(body: CompletionRequest, variant: VariantName) {
  const limited = { ...body, max_tokens: body.max_tokens ?? completionTokensDefault };
  return {
    ...toSampling(limited, variant),
    suffix: body.suffix,
    ignoreEos: body.ignore_eos,
    cachePrompt: body.cache_prompt,
    logprobs: body.logprobs,
    responseFormat: toResponseFormat(body),
  } satisfies Partial<GenerationRequest>;
}
