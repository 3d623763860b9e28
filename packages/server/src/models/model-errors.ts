// The wire errors for models that cannot be used.
import prettyBytes from "pretty-bytes";
import { EngineError, sumBytes, type MemoryBytes } from "@ingle/engine";
import type { ManagedModel } from "@ingle/protocol";
import { toWireError } from "../http/to-wire-error.ts";
import { ownSettings } from "../settings/own-settings.ts";
import { WireError } from "../wire-error.ts";
import type { LoadSettings } from "./slot/load-settings.ts";
import type { MemoryLimits } from "./eviction/eviction-plan.ts";

/** Bounds of the seconds after which a client should retry a request for a loading model. */
const retryAfter = { min: 1, max: 5 };

/** `id` is the model that the request names; undefined if it names none. */
export function modelNotFound(id: string | undefined): WireError {
  const what =
    id === undefined ? "No model is served here" : `The model ${JSON.stringify(id)} is not served here`;
  return new WireError("model_not_found", `${what}; GET /v1/models lists what is.`, { param: "model" });
}

/** The error of a server that manages no library. */
export function noLibrary(): WireError {
  return new WireError("not_found", "This server has no model library.");
}

/** `progress` is 0 … 1. */
export function modelLoading({ id, progress }: { id: string; progress: number }): WireError {
  const percent = Math.floor(progress * 100);
  return new WireError("model_loading", `The model ${id} is loading (${percent} %); try again shortly.`, {
    progress,
    retryAfterSeconds: loadRetryAfterSeconds(progress),
  });
}

export function loadFailed(failed: { id: string; error: unknown; retryInMs: number }): WireError {
  const { id, error, retryInMs } = failed;
  const { code, message } = loadError(id, error);
  const retryAfterSeconds = Math.max(1, Math.ceil(retryInMs / 1000));
  return new WireError(code, message, { retryAfterSeconds, cause: error });
}

/** Reasons that may be temporary. */
const passingCodes = [
  "out_of_memory",
  "engine_crashed",
  "worker_lost",
  "worker_unreachable",
  "worker_refused",
] as const;

/** The message of an unexpected error stays in the log: it may hold paths or secrets. */
export function loadError(id: string, error: unknown): WireError {
  const isKnown = EngineError.is(error) || error instanceof WireError;
  const why = isKnown ? error.message : "the server's log has the reason.";
  const code = passingCodes.find((each) => isKnown && error.code === each) ?? "engine_failed";
  return new WireError(code, `The model ${id} could not be loaded: ${why}`, { cause: error });
}

/** A load request has other settings than those that the model is loaded with. */
export function loadedWithOtherSettings(
  id: string,
  { contextLength, kvBitsK, kvBitsV, sampling, devices }: LoadSettings,
): WireError {
  const settings = {
    context_length: contextLength,
    kv_bits_k: kvBitsK,
    kv_bits_v: kvBitsV,
    sampling: sampling === undefined ? undefined : JSON.stringify(sampling),
  };
  const own = ownSettings.map(({ option, field }) => [field, Reflect.get(devices ?? {}, option)] as const);
  const present = [...Object.entries(settings), ...own]
    .filter(([, value]) => value !== undefined && value !== false)
    .map(([name, value]) => `${name} ${String(value)}`);
  const message = `The model ${id} is loaded with other settings (${present.join(", ")}); unload it first.`;
  return new WireError("invalid_request", message, { param: "model" });
}

/** The program that added the model decided how it is loaded. */
export function settingsAreFixed(id: string): WireError {
  const message = `The settings of the model ${id} are fixed on this server; leave them out of the request.`;
  return new WireError("invalid_request", message, { param: "model" });
}

/** A model would fit if it were not for pinned models. */
export function noMemory(byMemory: MemoryBytes, { budget, loadedMax }: MemoryLimits): WireError {
  const memory =
    budget === undefined
      ? ""
      : ` of the ${prettyBytes(budget.totalBytes ?? sumBytes(budget.byMemory), { binary: true })} for all models`;
  const most = loadedMax === undefined ? "" : `, and at most ${loadedMax} may be loaded`;
  return new WireError(
    "out_of_memory",
    `it needs ${prettyBytes(sumBytes(byMemory), { binary: true })}${memory}${most}, and pinned models are not evicted; unload one of them.`,
  );
}

export function shuttingDown(): WireError {
  return new WireError("shutting_down", "The server is stopping; try another one.", {
    retryAfterSeconds: retryAfter.max,
  });
}

/** Shrinks with the part that is left to load, because the speed is unknown. `progress` is 0 … 1. */
export function loadRetryAfterSeconds(progress: number): number {
  return Math.max(retryAfter.min, Math.ceil(retryAfter.max * (1 - progress)));
}

/** Why a model or a job failed. */
export type Failure = Pick<ManagedModel, "error" | "error_code">;

export const noFailure: Failure = { error: null, error_code: null };

/** The message of a known error. Unexpected errors stay in the log: they may hold paths or secrets. */
export function toFailure(error: unknown): Failure {
  const isKnown = error instanceof Error && "code" in error;
  return {
    error: isKnown ? error.message : "The server's log has the reason.",
    error_code: toWireError(error).code,
  };
}
