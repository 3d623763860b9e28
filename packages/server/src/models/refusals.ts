// Why a model cannot be had, as wire errors. Used by registry.ts; routes/health.ts asks how long a load still takes.
import { EngineError } from "@ingle/engine";
import { WireError } from "../wire-error.ts";

/** Seconds a client is asked to wait for a model that is loading, by how far it is. */
const retryAfter = { min: 1, max: 5 };

/** `id` is what the request asked for, where it did. */
export function notFound(id: string | undefined): WireError {
  const what =
    id === undefined ? "No model is served here" : `The model ${JSON.stringify(id)} is not served here`;
  return new WireError("model_not_found", `${what}; GET /v1/models lists what is.`, { param: "model" });
}

export function loadingStill(state: { id: string; progress: number }): WireError {
  const percent = Math.floor(state.progress * 100);
  return new WireError(
    "model_loading",
    `The model ${state.id} is loading (${percent} %); try again shortly.`,
    {
      retryAfterSeconds: secondsLeft(state.progress),
    },
  );
}

export function loadFailed({ id, error }: { id: string; error: unknown }): WireError {
  const why = EngineError.is(error) ? error.message : "the server's log has the reason.";
  const code = EngineError.is(error) && error.code === "out_of_memory" ? "out_of_memory" : "engine_failed";
  return new WireError(code, `The model ${id} could not be loaded: ${why}`, { cause: error });
}

export function shuttingDown(): WireError {
  return new WireError("shutting_down", "The server is stopping; try another one.", {
    retryAfterSeconds: retryAfter.max,
  });
}

/** Nothing is known about the speed, so the wait shrinks with what is left. `progress` is 0 … 1. */
export function secondsLeft(progress: number): number {
  return Math.max(retryAfter.min, Math.ceil(retryAfter.max * (1 - progress)));
}
