// The management of a running server: GET /api/v1/state, GET /api/v1/models, POST /api/v1/models/load and …/unload.
import { LoadOrder, ManagedModel, ManagedModelList, ModelOrder, ServerState } from "@ingle/protocol";
import type { FastifyInstance, FastifyRequest } from "fastify";
import type { ZodTypeProvider } from "fastify-type-provider-zod";
import type { AnsweringOptions } from "../answering/answering.ts";
import { settingsOf } from "../models/load-settings.ts";
import { modelMemory, toManagedModel } from "../models/managed-model.ts";
import type { ModelSlot } from "../models/model-slot.ts";
import { isInMemory } from "../models/model-state.ts";
import type { Operation } from "../openapi/operation.ts";
import { ingleVersion } from "../version.ts";

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

export interface ControlOptions extends Pick<AnsweringOptions, "registry" | "variant" | "now"> {
  /** Runs before every order; throws for those who may give none. */
  refuseStrangers: () => Promise<void>;
}

export async function controlRoutes(app: FastifyInstance, options: ControlOptions): Promise<void> {
  const { registry, variant, now } = options;
  const startedAt = Math.floor(now().getTime() / 1000);

  app.get("/api/v1/state", { config: { operation: state } }, async (): Promise<ServerState> => {
    const { running, waiting } = registry.figures();
    const loaded = registry.slots.filter((slot) => isInMemory(slot.state)).map(({ id }) => id);
    const { status } = registry.readiness();
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
  });

  app.get("/api/v1/models", { config: { operation: models } }, async (): Promise<ManagedModelList> => {
    await registry.refresh();
    return { object: "list", data: registry.slots.map(toManagedModel), memory: modelMemory(registry) };
  });

  const typed = app.withTypeProvider<ZodTypeProvider>();
  const preHandler = options.refuseStrangers;
  const paramNames = { contextLength: "context_length" };
  typed.post(
    "/api/v1/models/load",
    { preHandler, schema: { body: LoadOrder }, config: { operation: load, paramNames } },
    async (request) => {
      const settings = settingsOf(request.body);
      const slot = await registry.known(request.body.model);
      if (settings !== undefined) slot.assertTakes(settings); // who does not wait is told, too
      return await carryOut(slot, request, (signal) =>
        registry.load(slot.id, undefined, { settings, signal }),
      );
    },
  );
  typed.post(
    "/api/v1/models/unload",
    { preHandler, schema: { body: ModelOrder }, config: { operation: unload } },
    async (request) => {
      const slot = await registry.known(request.body.model);
      return await carryOut(slot, request, (signal) => registry.unload(slot.id, { signal }));
    },
  );
}

async function carryOut(
  slot: ModelSlot,
  request: FastifyRequest<{ Body: ModelOrder }>,
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
  { log }: FastifyRequest<{ Body: ModelOrder }>,
): Promise<void> {
  try {
    await work;
  } catch (error) {
    log.warn({ err: error }, "an order that nobody waited for has failed");
  }
}
