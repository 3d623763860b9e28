// The management of a running server: GET /api/v1/state, GET /api/v1/models, POST /api/v1/models/load and …/unload.
import { ModelOrder, type ManagedModel, type ManagedModelList, type ServerState } from "@ingle/protocol";
import type { FastifyInstance, FastifyRequest } from "fastify";
import type { ZodTypeProvider } from "fastify-type-provider-zod";
import type { AnsweringOptions } from "../answering/answering.ts";
import { modelMemory, toManagedModel } from "../models/managed-model.ts";
import { isInMemory } from "../models/model-state.ts";

export interface ControlOptions extends Pick<AnsweringOptions, "registry" | "variant" | "now"> {
  /** Runs before every order; throws for those who may give none. */
  refuseStrangers: () => Promise<void>;
}

export async function controlRoutes(app: FastifyInstance, options: ControlOptions): Promise<void> {
  const { registry, variant, now } = options;
  const startedAt = Math.floor(now().getTime() / 1000);
  const order = { schema: { body: ModelOrder }, preHandler: options.refuseStrangers };

  app.get("/api/v1/state", async (): Promise<ServerState> => {
    const { running, waiting } = registry.figures();
    const loaded = registry.slots.filter(({ state }) => isInMemory(state)).map(({ id }) => id);
    const { status } = registry.readiness();
    return {
      status,
      variant,
      started_at: startedAt,
      running,
      waiting,
      loaded,
      memory: modelMemory(registry),
    };
  });

  app.get("/api/v1/models", async (): Promise<ManagedModelList> => {
    await registry.refresh();
    return { object: "list", data: registry.slots.map(toManagedModel), memory: modelMemory(registry) };
  });

  type Order = (id: string, options: { signal?: AbortSignal | undefined }) => Promise<unknown>;
  const carryOut = async (
    what: Order,
    request: FastifyRequest<{ Body: ModelOrder }>,
  ): Promise<ManagedModel> => {
    const { model, wait = true } = request.body;
    const slot = await registry.known(model);
    if (wait) await what(slot.id, { signal: request.clientSignal });
    else void inBackground(what(slot.id, {}), request); // never rejects
    return toManagedModel(slot);
  };
  const typed = app.withTypeProvider<ZodTypeProvider>();
  const load: Order = (id, { signal }) => registry.load(id, undefined, { signal });
  typed.post("/api/v1/models/load", order, (request) => carryOut(load, request));
  const unload: Order = (id, { signal }) => registry.unload(id, { signal });
  typed.post("/api/v1/models/unload", order, (request) => carryOut(unload, request));
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
