// Converts models to responses of the management API.
import { totalOf } from "@ingle/engine";
import type { ManagedModel, ModelMemory } from "@ingle/protocol";
import type { ModelSlot } from "./slot/model-slot.ts";
import { takesMemory } from "./slot/model-state.ts";
import type { ModelRegistry } from "./registry.ts";
import { toWireError } from "../http/to-wire-error.ts";
import { toFields } from "../protocols/sampling-defaults.ts";
import { toUnixSeconds } from "../unix-seconds.ts";

export function toManagedModel(slot: ModelSlot): ManagedModel {
  const { id, state, isPinned, leases, waiting, entry, byMemory, info, settings } = slot;
  const { aliases, architecture, lastUsedAt, listed } = slot.profile;
  const memoryBytes = totalOf(byMemory);
  const isLoaded = state.kind === "loaded" || state.kind === "draining";
  return {
    id,
    aliases: [...aliases],
    status: slot.isRestarting ? "restarting" : state.kind,
    progress: state.kind === "loading" ? state.progress : null,
    pinned: isPinned,
    running: leases,
    waiting,
    context_length: entry.context_length,
    context_length_train: entry.context_length_train,
    quantization: entry.quantization,
    format: listed?.format ?? null,
    architecture,
    capabilities: entry.capabilities,
    sampling: toFields(slot.profile.sampling),
    load_sampling: settings.sampling ?? null,
    size_bytes: entry.size_bytes,
    memory_bytes: takesMemory(state) && memoryBytes > 0 ? memoryBytes : null,
    kv_bytes_per_token: info?.kvBytesPerToken ?? null,
    kv_bits_k: settings.kvBitsK ?? null,
    kv_bits_v: settings.kvBitsV ?? null,
    loaded_at: isLoaded ? toUnixSeconds(state.loadedAt) : null,
    last_used_at: lastUsedAt === null ? null : toUnixSeconds(lastUsedAt),
    removable: listed?.isRemovable ?? false,
    imported: listed?.isImported ?? false,
    ...(state.kind === "failed" ? failureOf(state.error) : noFailure),
  };
}

export function modelMemory(registry: ModelRegistry): ModelMemory {
  const { budget } = registry.limits;
  return {
    used_bytes: totalOf(registry.memoryUsed()),
    budget_bytes: budget === undefined ? null : (budget.totalBytes ?? totalOf(budget.byMemory)),
  };
}

/** Why a model or a job failed. */
export type Failure = Pick<ManagedModel, "error" | "error_code">;

export const noFailure: Failure = { error: null, error_code: null };

/** The message of a known error. Unexpected errors stay in the log: they may hold paths or secrets. */
export function failureOf(error: unknown): Failure {
  const isKnown = error instanceof Error && "code" in error;
  return {
    error: isKnown ? error.message : "The server's log has the reason.",
    error_code: toWireError(error).code,
  };
}
