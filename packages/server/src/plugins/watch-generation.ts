// Looks on while a generation runs, for the request's log line, the metrics and the traces: when its pieces come and what
// it came to. It sees them as the engine gives them, however slowly the client reads. Used by the routes that generate.
import type { Generation } from "@ingle/engine";
import type { FastifyRequest } from "fastify";
import type { GenerationNote, RequestOutcome } from "./request-log.ts";

export interface WatchedGeneration extends Omit<GenerationNote, "startedAt" | "endedAt"> {
  /** Id of the model in the house. */
  model: string;
}

/** Never rejects: what fails is told to the client by its reply, and to the log by the error handling. */
export async function watchGeneration(
  request: FastifyRequest,
  generation: Generation,
  { model, ...asked }: WatchedGeneration,
): Promise<void> {
  const outcome: RequestOutcome = request.outcome;
  const meter = request.server.metrics.requests.meter(model);
  const note: GenerationNote = { ...asked, startedAt: performance.now() };
  outcome.generation = note;
  let lastAt: number | undefined;
  try {
    for await (const { tokens } of generation) {
      const now = performance.now();
      if (lastAt === undefined) meter.firstToken((now - outcome.startedAt) / 1000);
      else meter.interToken((now - lastAt) / 1000 / Math.max(1, tokens));
      lastAt = now;
    }
    const { usage, timings, finishReason } = await generation;
    meter.cached(usage.cachedTokens);
    outcome.promptTokens = usage.promptTokens;
    outcome.cachedTokens = usage.cachedTokens;
    outcome.completionTokens = usage.completionTokens;
    outcome.ttftMs = Math.round(timings.queueMs + timings.promptMs);
    outcome.finishReason = finishReason;
  } catch {
    // Cancelled or failed: there is nothing to add up.
  } finally {
    note.endedAt = performance.now();
  }
}
