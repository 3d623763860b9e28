// The state of a running server and of its machine: GET /api/v1/state and GET /api/v1/machine; and two requests about its models,
// POST /api/v1/models/pin and …/estimate.
import {
  EstimateRequest,
  Machine,
  ManagedModel,
  MemoryEstimate,
  PinRequest,
  ServerState,
} from "@ingle/protocol";
import type { FastifyInstance } from "fastify";
import type { InferenceOptions } from "../protocols/inference.ts";
import { settingsOf } from "../models/slot/load-settings.ts";
import { modelMemory, toManagedModel } from "../models/managed-model.ts";
import { MemoryEstimates } from "../models/eviction/memory-estimate.ts";
import { isInMemory } from "../models/slot/model-state.ts";
import { ingleVersion } from "../this-package.ts";
import { WireError } from "../wire-error.ts";
import { addRoute, type Route } from "./add-route.ts";
import { loadFieldNames } from "./managed-models.ts";
import { serverReadiness } from "./monitoring.ts";
import { toUnixSeconds } from "../unix-seconds.ts";

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
  addRoute(app, estimate, async ({ body, clientSignal }) =>
    estimates.of(await registry.known(body.model), settingsOf(body), clientSignal),
  );
  addRoute(app, pin, async ({ body }) => {
    const slot = await registry.known(body.model);
    slot.pin(body.pinned);
    return toManagedModel(slot);
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
