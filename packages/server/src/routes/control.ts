// Manages the models of a running server: GET /api/v1/state, GET /api/v1/models, POST /api/v1/models/load, …/unload, …/pin and
// …/estimate.
import {
  EstimateRequest,
  LoadRequest,
  ManagedModel,
  ManagedModelList,
  MemoryEstimate,
  UnloadRequest,
  PinRequest,
  ServerState,
} from "@ingle/protocol";
import type { FastifyInstance, FastifyRequest } from "fastify";
import type { ZodTypeProvider } from "fastify-type-provider-zod";
import type { InferenceOptions } from "../protocols/inference.ts";
import { settingsOf } from "../models/slot/load-settings.ts";
import { modelMemory, toManagedModel } from "../models/managed-model.ts";
import { MemoryEstimates } from "../models/eviction/memory-estimate.ts";
import type { ModelSlot } from "../models/slot/model-slot.ts";
import { isInMemory } from "../models/slot/model-state.ts";
import type { Operation } from "../openapi/operation.ts";
import { ingleVersion } from "../version.ts";
import { serverReadiness } from "./health.ts";
import { toUnixSeconds } from "../unix-seconds.ts";

const state: Operation = { summary: "Get the server's state", answers: { 200: ServerState } };
const models: Operation = {
  summary: "List every known model and its state",
  answers: { 200: ManagedModelList },
};
const load: Operation = {
  summary: "Load a model",
  answers: { 200: ManagedModel },
  errors: ["model_not_found", "engine_failed", "out_of_memory", "shutting_down"],
  example: {},
};
const unload: Operation = {
  summary: "Unload a model once no request uses it",
  answers: { 200: ManagedModel },
  errors: ["model_not_found", "shutting_down"],
  example: {},
};

const pin: Operation = {
  summary: "Protect a model from eviction, or allow it again",
  answers: { 200: ManagedModel },
  errors: ["model_not_found"],
  example: { pinned: false },
};
const estimate: Operation = {
  summary: "Estimate the memory that loading a model takes, and whether it fits",
  answers: { 200: MemoryEstimate },
  errors: ["model_not_found", "overloaded", "engine_failed"],
  example: {},
};

/** The requests' names for the engine's fields. */
const fieldNames = { contextLength: "context_length" };

export type ControlOptions = Pick<InferenceOptions, "registry" | "variant" | "now">;

export async function controlRoutes(app: FastifyInstance, options: ControlOptions): Promise<void> {
  readRoutes(app, options);
  managementRoutes(app, options);
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

function readRoutes(app: FastifyInstance, options: ControlOptions): void {
  const { registry } = options;
  const readState = stateReader(app, options);
  app.get(
    "/api/v1/state",
    { config: { right: "inference", operation: state } },
    async (): Promise<ServerState> => readState(),
  );

  app.get(
    "/api/v1/models",
    { config: { right: "inference", operation: models } },
    async (): Promise<ManagedModelList> => {
      await registry.refresh();
      return { object: "list", data: registry.slots.map(toManagedModel), memory: modelMemory(registry) };
    },
  );

  const estimates = new MemoryEstimates(registry);
  app
    .withTypeProvider<ZodTypeProvider>()
    .post(
      "/api/v1/models/estimate",
      { schema: { body: EstimateRequest }, config: { right: "management", operation: estimate, fieldNames } },
      async (request): Promise<MemoryEstimate> => {
        const slot = await registry.known(request.body.model);
        return await estimates.of(slot, settingsOf(request.body), request.clientSignal);
      },
    );
}

function managementRoutes(app: FastifyInstance, { registry }: ControlOptions): void {
  const typed = app.withTypeProvider<ZodTypeProvider>();
  typed.post(
    "/api/v1/models/load",
    { schema: { body: LoadRequest }, config: { right: "management", operation: load, fieldNames } },
    async (request) => {
      const settings = settingsOf(request.body);
      const slot = await registry.known(request.body.model);
      if (settings !== undefined) slot.assertAccepts(settings); // also reported to clients that do not wait
      return await carryOut(slot, request, (signal) =>
        registry.load(slot.id, undefined, { settings, signal }),
      );
    },
  );
  typed.post(
    "/api/v1/models/pin",
    { schema: { body: PinRequest }, config: { right: "management", operation: pin } },
    async (request): Promise<ManagedModel> => {
      const slot = await registry.known(request.body.model);
      slot.pin(request.body.pinned);
      return toManagedModel(slot);
    },
  );
  typed.post(
    "/api/v1/models/unload",
    { schema: { body: UnloadRequest }, config: { right: "management", operation: unload } },
    async (request) => {
      const slot = await registry.known(request.body.model);
      return await carryOut(slot, request, (signal) => registry.unload(slot.id, { signal }));
    },
  );
}

async function carryOut(
  slot: ModelSlot,
  request: FastifyRequest<{ Body: UnloadRequest }>,
  command: (signal: AbortSignal | undefined) => Promise<unknown>,
): Promise<ManagedModel> {
  const { wait = true } = request.body;
  if (wait) await command(request.clientSignal);
  else void inBackground(command(undefined), request);
  return toManagedModel(slot);
}

/** Never rejects: the model's state shows a failure, and it is logged. */
async function inBackground(
  work: Promise<unknown>,
  { log }: FastifyRequest<{ Body: UnloadRequest }>,
): Promise<void> {
  try {
    await work;
  } catch (error) {
    log.warn({ err: error }, "a management request failed after its client stopped waiting");
  }
}
