// llama-server's GET and POST /lora-adapters: a model's adapters, and those that requests use which choose none.
import { LlamaServerAdapters, LlamaServerError, LoraUses } from "@ingle/protocol";
import type { FastifyInstance } from "fastify";
import { modelErrors } from "../../openapi/operation.ts";
import { leaseModel, type InferenceOptions } from "../../generation/inference.ts";
import { llamaServerConventions } from "./conventions.ts";
import type { Lease } from "../../models/slot/slot-interface.ts";
import { WireError } from "../../wire-error.ts";
import { addRoute, type Route } from "../../http/add-route.ts";
import { ModelQuery } from "./models.ts";

const list = {
  ...llamaServerConventions,
  path: "GET /lora-adapters",
  right: "inference",
  query: ModelQuery,
  summary: "List a model's adapters in llama-server's form",
  responses: { 200: LlamaServerAdapters },
  errors: modelErrors,
  errorBody: LlamaServerError,
} satisfies Route;
const change = {
  ...list,
  path: "POST /lora-adapters",
  right: "management",
  body: LoraUses,
  summary: "Set the adapters of requests that choose none",
} satisfies Route;

export function addAdapters(app: FastifyInstance, options: InferenceOptions): void {
  const { defaultAdapters } = options.registry;
  addRoute(app, list, async (request) => {
    const { model } = request.query;
    return toList(await leaseModel(request, options, { model, mayMeanAny: true }));
  });
  addRoute(app, change, async (request) => {
    const lease = await leaseModel(request, options, { model: request.query.model, mayMeanAny: true });
    const { adapters } = lease.model.info;
    const uses = request.body.map(({ id, scale }, at) => {
      const place = typeof id === "number" ? id : adapters.indexOf(id);
      if (adapters[place] !== undefined) return { id: place, scale };
      const message = `${lease.id} has no adapter ${id}; its adapters: ${adapters.join(", ")}.`;
      throw new WireError("invalid_request", message, { param: `[${at}].id` });
    });
    defaultAdapters.set(lease.model, uses);
    return toList({ ...lease, defaultAdapters: uses });
  });
}

/** An adapter that was set twice has the last scale. */
function toList({
  model,
  defaultAdapters = [],
}: Pick<Lease, "model" | "defaultAdapters">): LlamaServerAdapters {
  return model.info.adapters.map((path, id) => ({
    id,
    path,
    scale: defaultAdapters.findLast((use) => use.id === id)?.scale ?? 0,
  }));
}
