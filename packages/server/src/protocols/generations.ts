// Starts the generations of a request and observes them for its log line, the metrics and the traces. It sees tokens when the
// engine produces them, however slowly the client reads.
import type { Generation, GenerationRequest, GenerationResult, Model } from "@ingle/engine";
import type { FastifyRequest } from "fastify";
import type { GenerationNote } from "../http/request-outcome.ts";
import { adapterId } from "../models/adapters.ts";
import type { Lease } from "../models/registry.ts";
import { toUsage } from "./usage.ts";

interface StartOptions extends Pick<GenerationNote, "operation" | "responseId"> {
  repliesPerPrompt: number;
  /** The user that the client names. */
  user: string | undefined;
}

/**
 * Starts `repliesPerPrompt` generations for each of `prompts`, in order. They end when the client leaves, and when the first one
 * fails: a response is never sent in part.
 */
export function startGenerations(
  request: FastifyRequest,
  { id, model, adapter, defaultAdapters }: Lease,
  given: readonly GenerationRequest[],
  { repliesPerPrompt, user, ...noted }: StartOptions,
): Generation[] {
  const client = request.clientKey(user);
  const prompts = given.map((prompt) =>
    withAdapters(prompt, adapter === undefined ? defaultAdapters : [{ id: adapter }]),
  );
  const generations = prompts
    .flatMap((prompt) => repeated(prompt, repliesPerPrompt))
    .map((each) => model.generate(each, { signal: request.clientSignal, client }));
  const note: GenerationNote = { ...noted, sampling: prompts[0] ?? {}, startedAt: performance.now() };
  request.outcome.generation = note;
  request.tracked?.generates(generations, repliesPerPrompt);
  void cancelTogether(generations); // never rejects
  const adapters = adaptersOf(prompts[0], model).map((name) => adapterId(id, name));
  void watchAll(request, generations, { note, modelId: id, repliesPerPrompt, adapters }); // never rejects
  return generations;
}

/** The adapter that the model's name has, or the model's default ones, unless the request weights adapters itself. */
function withAdapters(
  prompt: GenerationRequest,
  adapters: GenerationRequest["adapters"] = [],
): GenerationRequest {
  return adapters.length === 0 || (prompt.adapters ?? []).length > 0 ? prompt : { ...prompt, adapters };
}

/** The names of the adapters that a request uses. */
function adaptersOf(prompt: GenerationRequest | undefined, { info }: Model): string[] {
  return (prompt?.adapters ?? [])
    .filter(({ scale }) => scale !== 0)
    .flatMap(({ id }) => (typeof id === "number" ? info.adapters.slice(id, id + 1) : [id]));
}

/** Each reply has its own seed, derived from the given one; -1 is a random one for each. */
function repeated(prompt: GenerationRequest, count: number): GenerationRequest[] {
  const { seed } = prompt;
  return Array.from({ length: count }, (_, index) =>
    seed === undefined || seed === -1 ? prompt : { ...prompt, seed: seedAt(index, seed) },
  );
}

/** Away from zero, so that none is -1, and back if there is no such integer. */
function seedAt(index: number, seed: number): number {
  const step = seed < 0 ? -index : index;
  return Number.isSafeInteger(seed + step) ? seed + step : seed - step;
}

/**
 * Breaking out of an iterator is not enough: it takes effect only with the next token, which may be minutes away in the queue.
 */
async function cancelTogether(generations: readonly Generation[]): Promise<void> {
  try {
    await Promise.all(generations);
  } catch (error) {
    for (const generation of generations) generation.cancel(error);
  }
}

interface Watched {
  note: GenerationNote;
  modelId: string;
  repliesPerPrompt: number;
  /** Ids. */
  adapters: readonly string[];
}

/** Never rejects: the response reports a failure to the client, the error handler to the log. */
async function watchAll(
  { outcome, server, tracked }: FastifyRequest,
  generations: readonly Generation[],
  { note, modelId, repliesPerPrompt, adapters }: Watched,
): Promise<void> {
  const watch = async (generation: Generation): Promise<GenerationResult> => {
    const meter = server.metrics.requests.meter(modelId);
    using uses = server.metrics.adapters.wait(adapters);
    let lastAt: number | undefined;
    for await (const { tokens, prompt } of generation) {
      if (prompt !== undefined) continue;
      const now = performance.now();
      if (lastAt === undefined) uses.run();
      if (lastAt === undefined) meter.firstToken((now - outcome.startedAt) / 1000);
      else meter.interToken((now - lastAt) / 1000 / Math.max(1, tokens));
      lastAt = now;
      tracked?.piece(tokens, now);
    }
    const result = await generation;
    meter.cached(result.usage.cachedTokens);
    server.requestBoard.countPrompt(result.usage);
    return result;
  };
  try {
    const results = await Promise.all(generations.map(watch));
    const { prompt_tokens, completion_tokens, prompt_tokens_details } = toUsage(results, repliesPerPrompt);
    outcome.promptTokens = prompt_tokens;
    outcome.cachedTokens = prompt_tokens_details.cached_tokens;
    outcome.completionTokens = completion_tokens;
    outcome.ttftMs = Math.round(
      Math.min(...results.map(({ timings }) => timings.queueMs + timings.promptMs)),
    );
    outcome.finishReason = results[0]?.finishReason;
  } catch {
    // Cancelled or failed: there is nothing to add up.
  } finally {
    note.endedAt = performance.now();
  }
}
