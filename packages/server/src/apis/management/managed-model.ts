// Converts models to responses of the management API.
import { sumBytes } from "@ingle/engine";
import type { ManagedModel, ModelMemory } from "@ingle/protocol";
import type { ModelSlot } from "../../models/slot/model-slot.ts";
import { lastFailure, takesMemory } from "../../models/slot/model-state.ts";
import type { ModelRegistry } from "../../models/registry.ts";
import { toFailure, noFailure } from "../../models/model-errors.ts";
import { toFields } from "../../generation/sampling-fields.ts";
import { toUnixSeconds } from "../../seconds.ts";

export function toManagedModel(slot: ModelSlot): ManagedModel {
  const { id, state, isPinned, leases, waiting, entry, byMemory, info, settings } = slot;
  const { aliases, architecture, lastUsedAt, listed } = slot.profile;
  const memoryBytes = sumBytes(byMemory);
  const failure = lastFailure(state);
  const isLoaded = state.kind === "loaded" || state.kind === "draining";
  return {
    id,
    aliases: [...aliases],
    status: slot.engine.isRestarting ? "restarting" : failure === undefined ? state.kind : "failed",
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
    ...(failure === undefined ? noFailure : toFailure(failure)),
  };
}

export function modelMemory(registry: ModelRegistry): ModelMemory {
  const { budget } = registry.limits;
  return {
    used_bytes: sumBytes(registry.memoryUsed()),
    budget_bytes: budget === undefined ? null : (budget.totalBytes ?? sumBytes(budget.byMemory)),
  };
}
