// The state of a running server, its machine and its models: GET /api/v1/state, GET /api/v1/machine, GET /api/v1/models, and POST
// /api/v1/models/load, …/unload, …/pin and …/estimate.
import {
  EstimateRequest,
  LoadRequest,
  Machine,
  ManagedModel,
  ManagedModelList,
  MemoryEstimate,
  UnloadRequest,
  PinRequest,
  ServerState,
} from "@ingle/protocol";
import type { FastifyInstance, FastifyRequest } from "fastify";
import type { InferenceOptions } from "../protocols/inference.ts";
import { settingsOf } from "../models/slot/load-settings.ts";
import { modelMemory, toManagedModel } from "../models/managed-model.ts";
import { MemoryEstimates } from "../models/eviction/memory-estimate.ts";
import type { ModelSlot } from "../models/slot/model-slot.ts";
import { isInMemory } from "../models/slot/model-state.ts";
import { ingleVersion } from "../version.ts";
import { WireError } from "../wire-error.ts";
import { addRoute, type Route } from "./add-route.ts";
import { serverReadiness } from "./monitoring.ts";
import { toUnixSeconds } from "../unix-seconds.ts";

/** The requests' names for the engine's fields. */
const fieldNames = { contextLength: "context_length" };

const state = {
  path: "GET /api/v1/state",
  right: "inference",
  summary: "Get the server's state",
  responses: { 200: ServerState },
} satisfies Route;
const machineInfo = {
  path: "GET /api/v1/machine",
  right: "management",
  summary: "Describe the server's machine: processor, memory, disk and devices",
  responses: { 200: Machine },
  errors: ["not_found", "engine_failed"],
} satisfies Route;
const models = {
  path: "GET /api/v1/models",
  right: "inference",
  summary: "List every known model and its state",
  responses: { 200: ManagedModelList },
} satisfies Route;
const load = {
  path: "POST /api/v1/models/load",
  right: "management",
  body: LoadRequest,
  fieldNames,
  summary: "Load a model",
  responses: { 200: ManagedModel },
  errors: ["model_not_found", "engine_failed", "out_of_memory", "shutting_down"],
  example: {},
} satisfies Route;
const unload = {
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
  fieldNames,
  summary: "Estimate the memory that loading a model takes, and whether it fits",
  responses: { 200: MemoryEstimate },
  errors: ["model_not_found", "overloaded", "engine_failed"],
  example: {},
} satisfies Route;

export interface ControlOptions extends Pick<InferenceOptions, "registry" | "variant" | "now"> {
  /** Absent: this server does not describe its machine. */
  machine?: (() => Promise<Machine>) | undefined;
}

export async function controlRoutes(app: FastifyInstance, options: ControlOptions): Promise<void> {
  const { registry, machine } = options;
  const estimates = new MemoryEstimates(registry);
  const readState = stateReader(app, options);

  addRoute(app, state, async () => readState());
  addRoute(app, machineInfo, async () => {
    if (machine !== undefined) return await machine();
    throw new WireError("not_found", "This server does not describe its machine.");
  });
  addRoute(app, models, async (): Promise<ManagedModelList> => {
    await registry.refresh();
    return { object: "list", data: registry.slots.map(toManagedModel), memory: modelMemory(registry) };
  });
  addRoute(app, estimate, async ({ body, clientSignal }) =>
    estimates.of(await registry.known(body.model), settingsOf(body), clientSignal),
  );
  addRoute(app, pin, async ({ body }) => {
    const slot = await registry.known(body.model);
    slot.pin(body.pinned);
    return toManagedModel(slot);
  });
  addRoute(app, load, async (request) => {
    const settings = settingsOf(request.body);
    const slot = await registry.known(request.body.model);
    if (settings !== undefined) slot.assertAccepts(settings); // also reported to clients that do not wait
    return await carryOut(slot, request, (signal) => registry.load(slot.id, undefined, { settings, signal }));
  });
  addRoute(app, unload, async (request) => {
    const slot = await registry.known(request.body.model);
    return await carryOut(slot, request, (signal) => registry.unload(slot.id, { signal }));
  });
}

/** Returns a function that reads the server's current state. */
export function stateReader(
  app: FastifyInstance,
  { registry, variant, now }: ControlOptions,
): () => ServerState {
  const startedAt = toUnixSeconds(now());
  return () => {
    const { running, waiting } = registry.stats();
    const loaded = registry.slots.filter((slot) => isInMemory(slot.state)).map(({ id }) => id);
    const { status } = serverReadiness(app, registry);
    return {
      status,
      version: ingleVersion(),
      variant,
      started_at: startedAt,
      running,
      waiting,
      loaded,
      memory: modelMemory(registry),
    };
  };
}

async function carryOut(
  slot: ModelSlot,
  { body: { wait = true }, clientSignal, log }: FastifyRequest<{ Body: UnloadRequest }>,
  command: (signal: AbortSignal | undefined) => Promise<unknown>,
): Promise<ManagedModel> {
  if (wait) await command(clientSignal);
  else
    void command(undefined).catch((err: unknown) =>
      // The model's state shows the failure, too.
      log.warn({ err }, "a management request failed after its client stopped waiting"),
    );
  return toManagedModel(slot);
}
