// The management of a running server: GET /api/v1/state, GET /api/v1/models, POST /api/v1/models/load and …/unload.
import { ManagedModel, ManagedModelList, ModelOrder, ServerState } from "@ingle/protocol";
import type { FastifyInstance, FastifyRequest } from "fastify";
import type { ZodTypeProvider } from "fastify-type-provider-zod";
import type { AnsweringOptions } from "../answering/answering.ts";
import { modelMemory, toManagedModel } from "../models/managed-model.ts";
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
  const order = { schema: { body: ModelOrder }, preHandler: options.refuseStrangers };
  const carryOut = async (
    what: (id: string, options: { signal?: AbortSignal | undefined }) => Promise<unknown>,
    request: FastifyRequest<{ Body: ModelOrder }>,
  ): Promise<ManagedModel> => {
    const { model, wait = true } = request.body;
    const slot = await registry.known(model);
    if (wait) await what(slot.id, { signal: request.clientSignal });
    else void inBackground(what(slot.id, {}), request); // never rejects
    return toManagedModel(slot);
  };

  typed.post("/api/v1/models/load", { ...order, config: { operation: load } }, (request) =>
    carryOut((id, { signal }) => registry.load(id, undefined, { signal }), request),
  );
  typed.post("/api/v1/models/unload", { ...order, config: { operation: unload } }, (request) =>
    carryOut((id, { signal }) => registry.unload(id, { signal }), request),
  );
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
