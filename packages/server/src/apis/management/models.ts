// The models of a running server: GET /api/v1/models, POST /api/v1/models/load, …/unload, …/pin and …/estimate.
import {
  EstimateRequest,
  LoadRequest,
  ManagedModel,
  ManagedModelList,
  MemoryEstimate,
  PinRequest,
  UnloadRequest,
} from "@ingle/protocol";
import type { FastifyInstance, FastifyRequest } from "fastify";
import { modelMemory, toManagedModel } from "./managed-model.ts";
import { MemoryEstimates } from "../../models/eviction/memory-estimate.ts";
import type { MayUse } from "../../access/rights.ts";
import type { ModelRegistry } from "../../models/registry.ts";
import { toLoadSettings } from "../../models/slot/load-settings.ts";
import type { ModelSlot } from "../../models/slot/model-slot.ts";
import type { FieldNames } from "../../http/to-wire-error.ts";
import { ownSettings } from "../../settings/own-settings.ts";
import { addRoute, type Route } from "../../http/add-route.ts";

/** The names in requests for the engine's fields. */
const loadFieldNames: FieldNames = {
  contextLength: "context_length",
  chatTemplate: "chat_template",
  ...Object.fromEntries(ownSettings.map(({ option, field }) => [option, field])),
};

export const listRoute = {
  path: "GET /api/v1/models",
  right: "inference",
  summary: "List every known model and its state",
  responses: { 200: ManagedModelList },
} satisfies Route;
export const loadRoute = {
  path: "POST /api/v1/models/load",
  right: "management",
  body: LoadRequest,
  fieldNames: loadFieldNames,
  summary: "Load a model",
  responses: { 200: ManagedModel },
  errors: ["model_not_found", "engine_failed", "out_of_memory", "shutting_down"],
  example: {},
} satisfies Route;
export const unloadRoute = {
  path: "POST /api/v1/models/unload",
  right: "management",
  body: UnloadRequest,
  summary: "Unload a model once no request uses it",
  responses: { 200: ManagedModel },
  errors: ["model_not_found", "shutting_down"],
  example: {},
} satisfies Route;

const pin = {
  path: "POST /api/v1/models/pin",
  right: "management",
  body: PinRequest,
  summary: "Protect a model from eviction, or allow it again",
  responses: { 200: ManagedModel },
  errors: ["model_not_found"],
  example: { pinned: false },
} satisfies Route;
const estimate = {
  path: "POST /api/v1/models/estimate",
  right: "management",
  body: EstimateRequest,
  fieldNames: loadFieldNames,
  summary: "Estimate the memory that loading a model takes, and whether it fits",
  responses: { 200: MemoryEstimate },
  errors: ["model_not_found", "overloaded", "engine_failed"],
  example: {},
} satisfies Route;

/** The list, loading and unloading. */
export function addModels(app: FastifyInstance, { registry }: { registry: ModelRegistry }): void {
  addRoute(app, listRoute, async ({ mayUse }) => await listModels(registry, mayUse));
  addRoute(app, loadRoute, async (request) =>
    toManagedModel(await loadAsRequested(registry, request, request.body)),
  );
  addRoute(app, unloadRoute, async (request) =>
    toManagedModel(await unloadAsRequested(registry, request, request.body)),
  );
}

/** What LM Studio's API does not have: pinning, and estimates of memory. */
export function addModelMemory(app: FastifyInstance, { registry }: { registry: ModelRegistry }): void {
  const estimates = new MemoryEstimates(registry);
  addRoute(app, estimate, async ({ body, clientSignal }) =>
    estimates.of(await registry.known(body.model), toLoadSettings(body), clientSignal),
  );
  addRoute(app, pin, async ({ body }) => {
    const slot = await registry.known(body.model);
    slot.pin(body.pinned);
    return toManagedModel(slot);
  });
}

export async function listModels(registry: ModelRegistry, mayUse: MayUse): Promise<ManagedModelList> {
  await registry.refresh();
  return {
    object: "list",
    data: registry.slots.filter(mayUse).map(toManagedModel),
    memory: modelMemory(registry),
  };
}

type Request = Pick<FastifyRequest, "clientSignal" | "log">;

/** Throws what `ModelRegistry.load()` throws; without `wait`, only `model_not_found` and errors of the settings. */
export async function loadAsRequested(
  registry: ModelRegistry,
  request: Request,
  body: LoadRequest,
): Promise<ModelSlot> {
  const settings = toLoadSettings(body);
  const slot = await registry.known(body.model);
  if (settings !== undefined) slot.assertAccepts(settings); // also reported to clients that do not wait
  await carryOut(request, body, (signal) => registry.load(slot.id, undefined, { settings, signal }));
  return slot;
}

/** Throws what `ModelRegistry.unload()` throws; without `wait`, only `model_not_found`. */
export async function unloadAsRequested(
  registry: ModelRegistry,
  request: Request,
  body: UnloadRequest,
): Promise<ModelSlot> {
  const slot = await registry.known(body.model);
  await carryOut(request, body, (signal) => registry.unload(slot.id, { signal }));
  return slot;
}

async function carryOut(
  { clientSignal, log }: Request,
  { wait = true }: Pick<UnloadRequest, "wait">,
  command: (signal: AbortSignal | undefined) => Promise<unknown>,
): Promise<void> {
  if (wait) await command(clientSignal);
  else
    void command(undefined).catch((err: unknown) =>
      // The model's state also shows the failure.
      log.warn({ err }, "a management request failed after its client stopped waiting"),
    );
}
