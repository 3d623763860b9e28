// A checked chat request in the engine's names. The only place where wire names (`repeat_penalty`, `max_tokens`, …)
// and a variant's defaults meet the engine's. Used by routes/chat-completions.ts.
import type { GenerationRequest, Message } from "@ingle/engine";
import type { ChatCompletionRequest, ChatMessage } from "@ingle/protocol";
import { variants, type VariantName } from "../variants.ts";
import { WireError } from "../wire-error.ts";

/** Fields that are absent stay absent: their defaults are the engine's. Throws `image_not_supported`. */
export function toGenerationRequest(body: ChatCompletionRequest, variant: VariantName): GenerationRequest {
  return {
    messages: body.messages.map(toMessage),
    temperature: body.temperature,
    topK: body.top_k ?? variants[variant].topK,
    topP: body.top_p,
    minP: body.min_p,
    repetitionPenalty: body.repetition_penalty ?? body.repeat_penalty,
    repeatLastN: body.repeat_last_n,
    presencePenalty: body.presence_penalty,
    frequencyPenalty: body.frequency_penalty,
    seed: body.seed,
    logitBias: body.logit_bias,
    maxTokens: toMaxTokens(body.max_completion_tokens ?? body.max_tokens),
    stop: typeof body.stop === "string" ? [body.stop] : body.stop,
    ignoreEos: body.ignore_eos,
    cachePrompt: body.cache_prompt,
  };
}

/** On the wire, -1 is "no limit". */
function toMaxTokens(limit: number | undefined): number | undefined {
  return limit === -1 ? undefined : limit;
}

/** `developer` is the newer name of `system`; the templates of local models know the older one. */
function toMessage(message: ChatMessage, index: number): Message {
  return {
    role: message.role === "developer" ? "system" : message.role,
    content: toText(message.content, `messages[${index}].content`),
  };
}

/** Parts are separate paragraphs to their sender: a line break keeps their words apart. */
function toText(content: ChatMessage["content"], param: string): string {
  if (content === undefined || typeof content === "string") return content ?? "";
  const texts = content.map((part, index) => {
    if (part.type === "text") return part.text;
    throw new WireError("image_not_supported", "This model reads text only; leave the image out.", {
      param: `${param}[${index}]`,
    });
  });
  return texts.join("\n");
}
