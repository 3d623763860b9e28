// The response to a completion in llama-server's form: a complete reply, a list of replies, or events.
import type { Generation, GenerationResult, TokenLogprobs } from "@ingle/engine";
import type {
  LlamaServerChunk,
  LlamaServerCompletion,
  LlamaServerGeneration,
  LlamaServerProbability,
  LlamaServerTimings,
} from "@ingle/protocol";
import { dataEvent } from "../../http/event-stream.ts";
import { mergeStreams, speedometer } from "../../generation/choice-chunks.ts";
import type { GenerationResponse, RunningRequest } from "../../generation/generation-route.ts";
import { toPromptProgress, toTimings, toTokenLogprobs } from "../../generation/usage.ts";
import { llamaServerErrorEvent } from "./conventions.ts";
import { probabilityCount, returnsTokens, toSettings } from "./engine-request.ts";

type Running = Omit<RunningRequest<LlamaServerGeneration>, "generation">;
/** The text of the prompt that a generation replies to. */
type PromptOf = (index: number) => Promise<string>;

/** For several replies, the response is a list. */
export function toResponse(running: Running, promptOf: PromptOf): GenerationResponse {
  const { body, generations } = running;
  return {
    whole: async () => {
      const replies = await Promise.all(
        generations.map(async (_, index) =>
          selected(await toCompletion(running, index, promptOf), body.response_fields),
        ),
      );
      const [only = {}] = replies;
      return replies.length === 1 ? only : replies;
    },
    events: () => toEvents(running, promptOf),
    errorEvents: llamaServerErrorEvent,
  };
}

async function toCompletion(
  { body, head, model, generations, requests: [request] }: Running,
  index: number,
  promptOf: PromptOf,
): Promise<LlamaServerCompletion> {
  const generation = generationAt(generations, index);
  const result = await generation;
  const { text, logprobs, usage } = result;
  return {
    index,
    content: text,
    ...tokensAndProbabilities(body, logprobs),
    id_slot: generation.idSlot ?? -1,
    stop: true,
    model: head.model,
    tokens_predicted: usage.completionTokens,
    tokens_evaluated: usage.promptTokens,
    generation_settings: toSettings(body, request ?? {}),
    prompt: await promptOf(index),
    has_new_line: text.includes("\n"),
    truncated:
      usage.droppedTokens > 0 || usage.promptTokens + usage.completionTokens >= model.info.contextLength,
    stop_type: result.finishReason === "length" ? "limit" : result.stop === undefined ? "eos" : "word",
    stopping_word: result.stop ?? "",
    tokens_cached: usage.cachedTokens,
    timings: toLlamaServerTimings(result),
  };
}

/** The events of all replies, in the order in which their tokens come. Throws what a generation throws. */
async function* toEvents(running: Running, promptOf: PromptOf): AsyncGenerator<string, void, undefined> {
  const { body, generations } = running;
  const counts = generations.map(() => 0);
  const speeds = generations.map(() => speedometer(() => performance.now()));
  for await (const { index, value: piece } of mergeStreams(generations)) {
    if (piece === undefined) {
      const end = { ...(await toCompletion(running, index, promptOf)), content: "", tokens: [] };
      const { completion_probabilities: _sent, ...last } = end;
      yield dataEvent(JSON.stringify(selected(last, body.response_fields)));
      continue;
    }
    const { promptTokens: evaluated = 0, idSlot: id_slot = -1 } = generationAt(generations, index);
    if (piece.prompt !== undefined) {
      const chunk: LlamaServerChunk = {
        index,
        content: "",
        tokens: [],
        stop: false,
        id_slot,
        tokens_predicted: 0,
        tokens_evaluated: evaluated,
        prompt_progress: toPromptProgress(piece.prompt),
      };
      yield dataEvent(JSON.stringify(chunk));
      continue;
    }
    const speed = speeds[index]?.(piece.tokens);
    counts[index] = (counts[index] ?? 0) + piece.tokens;
    yield dataEvent(
      JSON.stringify({
        index,
        content: piece.text,
        ...tokensAndProbabilities(body, piece.logprobs),
        stop: false,
        id_slot,
        tokens_predicted: counts[index],
        tokens_evaluated: evaluated,
        ...(body.timings_per_token === true && speed !== undefined ? { timings: speed } : {}),
      } satisfies LlamaServerChunk),
    );
  }
}

function generationAt(generations: readonly Generation[], index: number): Generation {
  const generation = generations[index];
  if (generation === undefined) throw new Error("There is a reply without a generation.");
  return generation;
}

function tokensAndProbabilities(
  body: LlamaServerGeneration,
  logprobs: readonly TokenLogprobs[] = [],
): Pick<LlamaServerCompletion, "tokens" | "completion_probabilities"> {
  return {
    tokens: returnsTokens(body) ? logprobs.map(({ id }) => id) : [],
    ...(probabilityCount(body) === 0 ? {} : { completion_probabilities: toProbabilities(logprobs) }),
  };
}

function toProbabilities(logprobs: readonly TokenLogprobs[]): LlamaServerProbability[] {
  return toTokenLogprobs(logprobs).map(({ top_logprobs: top, ...chosen }, index) => ({
    id: logprobs[index]?.id ?? -1,
    ...chosen,
    bytes: chosen.bytes ?? [],
    top_logprobs: top.map((one, place) => ({
      id: logprobs[index]?.top[place]?.id ?? -1,
      ...one,
      bytes: one.bytes ?? [],
    })),
  }));
}

function toLlamaServerTimings(result: GenerationResult): LlamaServerTimings {
  const timings = toTimings([result]);
  return {
    ...timings,
    prompt_per_token_ms: perToken(timings.prompt_ms, timings.prompt_n),
    // As in the rate: the time begins with the first token.
    predicted_per_token_ms: perToken(timings.predicted_ms, timings.predicted_n - 1),
  };
}

function perToken(ms: number, tokens: number): number {
  return tokens > 0 ? ms / tokens : 0;
}

/**
 * Selects the fields of a reply that `response_fields` names. Without names, returns all fields. A slash selects a field inside an
 * object, which gets the whole name; unknown names are ignored.
 */
function selected(reply: object, names: readonly string[] | undefined): object {
  if (names === undefined || names.length === 0) return reply;
  return Object.fromEntries(
    names.flatMap((name) => {
      const value = name.split("/").reduce<unknown>(readField, reply);
      return value === undefined ? [] : [[name, value]];
    }),
  );
}

function readField(value: unknown, name: string): unknown {
  const isObject = typeof value === "object" && value !== null && Object.hasOwn(value, name);
  return isObject ? Reflect.get(value, name) : undefined;
}
