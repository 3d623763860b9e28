// Looks on while the generations of a request run, for its log line, the metrics and the traces: when their pieces come and
// what they came to. It sees them as the engine gives them, however slowly the client reads. Used by the routes that
// generate.
import type { Generation, GenerationResult } from "@ingle/engine";
import type { FastifyRequest } from "fastify";
import { toUsage } from "./usage.ts";
import type { GenerationNote, RequestOutcome } from "../http/request-outcome.ts";

export interface WatchedGeneration extends Omit<GenerationNote, "startedAt" | "endedAt"> {
  /** Id of the model in the house. */
  model: string;
  /** How many of the generations in a row have one prompt. Default: all of them. */
  repliesPerPrompt?: number;
}

/** Never rejects: what fails is told to the client by its reply, and to the log by the error handling. */
export async function watchGenerations(
  request: FastifyRequest,
  generations: readonly Generation[],
  { model, repliesPerPrompt = generations.length, ...asked }: WatchedGeneration,
): Promise<void> {
  const outcome: RequestOutcome = request.outcome;
  const note: GenerationNote = { ...asked, startedAt: performance.now() };
  outcome.generation = note;
  request.tracked?.generates(generations, repliesPerPrompt);
  try {
    const results = await Promise.all(generations.map((generation) => watch(request, generation, model)));
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

/** Each reply has its own rhythm, and what it took from the cache is saved work. */
async function watch(
  request: FastifyRequest,
  generation: Generation,
  model: string,
): Promise<GenerationResult> {
  const meter = request.server.metrics.requests.meter(model);
  let lastAt: number | undefined;
  for await (const { tokens } of generation) {
    const now = performance.now();
    if (lastAt === undefined) meter.firstToken((now - request.outcome.startedAt) / 1000);
    else meter.interToken((now - lastAt) / 1000 / Math.max(1, tokens));
    lastAt = now;
    request.tracked?.piece(tokens, now);
  }
  const result = await generation;
  meter.cached(result.usage.cachedTokens);
  request.server.requestBoard.countPrompt(result.usage);
  return result;
}
