// The parts that the responses of Ollama's API share: model, times, durations, token log probabilities and tool calls.
import type { GenerationResult, TokenLogprobs, ToolCall } from "@ingle/engine";
import type { OllamaLogprob, OllamaToolCall, OllamaTotals } from "@ingle/protocol";
import { parseJsonObject } from "@ingle/protocol/json-shape";
import type { RunningRequest } from "../../generation/generation-route.ts";
import { toTokenLogprobs } from "../../generation/usage.ts";

type Running = Pick<
  RunningRequest<{ model?: string | undefined }>,
  "body" | "head" | "now" | "startedAt" | "leasedAt"
>;

/** Uses the request's name of the model, because clients compare it. */
export function toHead({ body, head, now }: Running) {
  return { model: body.model ?? head.model, created_at: now().toISOString() };
}

/** Additional fields of the last object of a reply. A reply that consists of calls has ended by itself. */
export function toTotals(running: Running, { finishReason, usage, timings }: GenerationResult) {
  return {
    done: true,
    done_reason: finishReason === "length" ? "length" : "stop",
    ...toDurations(running),
    prompt_eval_count: usage.promptTokens,
    prompt_eval_duration: toNanoseconds(timings.promptMs),
    eval_count: usage.completionTokens,
    eval_duration: toNanoseconds(timings.predictedMs),
  } satisfies OllamaTotals & { done: true };
}

/** `startedAt` and `leasedAt` are on `performance.now()`'s clock. */
export function toDurations({ startedAt, leasedAt }: Pick<Running, "startedAt" | "leasedAt">) {
  return {
    total_duration: toNanoseconds(performance.now() - startedAt),
    load_duration: toNanoseconds(leasedAt - startedAt),
  };
}

function toNanoseconds(ms: number): number {
  return Math.max(0, Math.round(ms * 1e6));
}

/** An empty object if none were requested. */
export function toLogprobs(tokens: readonly TokenLogprobs[] | undefined): { logprobs?: OllamaLogprob[] } {
  if (tokens === undefined) return {};
  const plain = ({ token, logprob, bytes }: { token: string; logprob: number; bytes: number[] | null }) => ({
    token,
    logprob,
    bytes: bytes ?? [],
  });
  return {
    logprobs: toTokenLogprobs(tokens).map((each) => ({
      ...plain(each),
      top_logprobs: each.top_logprobs.map(plain),
    })),
  };
}

/** A call that a limit has cut off lacks complete arguments and is omitted: nobody should run it. */
export function toToolCalls(calls: readonly ToolCall[]): OllamaToolCall[] {
  return calls.flatMap(({ id, name, arguments: text }, index) => {
    const args = parseJsonObject(text);
    return args === undefined ? [] : [{ id, function: { index, name, arguments: args } }];
  });
}
