// The management of a running server: GET /api/v1/state, GET /api/v1/models, POST /api/v1/models/load, …/unload, …/pin and
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

const state: Operation = { summary: "What the server is doing", answers: { 200: ServerState } };
const models: Operation = {
  summary: "Every model that is known, and where it is",
  answers: { 200: ManagedModelList },
};
const load: Operation = {
  summary: "Load a model",
  answers: { 200: ManagedModel },
  errors: ["model_not_found", "engine_failed", "out_of_memory", "shutting_down"],
  example: {},
};
const unload: Operation = {
  summary: "Free a model's memory, once nobody uses it",
  answers: { 200: ManagedModel },
  errors: ["model_not_found", "shutting_down"],
  example: {},
};

const pin: Operation = {
  summary: "Keep a model from being freed for others, or let it be",
  answers: { 200: ManagedModel },
  errors: ["model_not_found"],
  example: { pinned: false },
};
const estimate: Operation = {
  summary: "Tell what loading a model would take, and whether there is room",
  answers: { 200: MemoryEstimate },
  errors: ["model_not_found", "overloaded", "engine_failed"],
  example: {},
};

/** The orders' names of the engine's fields. */
const fieldNames = { contextLength: "context_length" };

export type ControlOptions = Pick<InferenceOptions, "registry" | "variant" | "now">;

export async function controlRoutes(app: FastifyInstance, options: ControlOptions): Promise<void> {
  questions(app, options);
  orders(app, options);
}

/** Tells what the server is doing, as it is then. */
export function stateTeller(
  app: FastifyInstance,
  { registry, variant, now }: ControlOptions,
): () => ServerState {
  const startedAt = Math.floor(now().getTime() / 1000);
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

function questions(app: FastifyInstance, options: ControlOptions): void {
  const { registry } = options;
  const tellState = stateTeller(app, options);
  app.get(
    "/api/v1/state",
    { config: { right: "inference", operation: state } },
    async (): Promise<ServerState> => tellState(),
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

function orders(app: FastifyInstance, { registry }: ControlOptions): void {
  const typed = app.withTypeProvider<ZodTypeProvider>();
  typed.post(
    "/api/v1/models/load",
    { schema: { body: LoadRequest }, config: { right: "management", operation: load, fieldNames } },
    async (request) => {
      const settings = settingsOf(request.body);
      const slot = await registry.known(request.body.model);
      if (settings !== undefined) slot.assertAccepts(settings); // who does not wait is told, too
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
  what: (signal: AbortSignal | undefined) => Promise<unknown>,
): Promise<ManagedModel> {
  const { wait = true } = request.body;
  if (wait) await what(request.clientSignal);
  else void inBackground(what(undefined), request); // never rejects
  return toManagedModel(slot);
}

/** What fails is told by the model's state; the log has it too. */
async function inBackground(
  work: Promise<unknown>,
  { log }: FastifyRequest<{ Body: UnloadRequest }>,
): Promise<void> {
  try {
    await work;
  } catch (error) {
    log.warn({ err: error }, "an order that nobody waited for has failed");
  }
}
