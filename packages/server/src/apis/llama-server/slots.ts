// llama-server's slots: GET /slots, and POST /slots/{id}, which saves, restores and erases the state of a slot's text.
import type { Model, SlotChange } from "@ingle/engine";
import {
  LlamaServerError,
  LlamaServerSlotChange,
  LlamaServerSlotRequest,
  LlamaServerSlots,
} from "@ingle/protocol";
import type { FastifyInstance } from "fastify";
import { z } from "zod";
import { modelErrors } from "../../openapi/operation.ts";
import { leaseModel, type InferenceOptions } from "../../generation/inference.ts";
import { llamaServerConventions } from "./conventions.ts";
import { WireError } from "../../wire-error.ts";
import { addRoute, type Route } from "../../http/add-route.ts";
import { ModelQuery } from "./models.ts";

const actions = ["save", "restore", "erase"] as const;
const ActionQuery = ModelQuery.extend({
  action: z.enum(actions, `action must be one of ${actions.join(", ")}`),
});
const common = {
  ...llamaServerConventions,
  right: "inference",
  errors: modelErrors,
  errorBody: LlamaServerError,
} as const;

const list = {
  ...common,
  path: "GET /slots",
  query: ModelQuery.extend({ fail_on_no_slot: z.string().optional() }),
  summary: "Get the number of requests that a model computes, in llama-server's form",
  responses: { 200: LlamaServerSlots },
} satisfies Route;
const changeSlot = {
  ...common,
  path: "POST /slots/:id",
  query: ActionQuery,
  body: LlamaServerSlotRequest,
  summary: "Save, restore or erase the state of a slot's text, in llama-server's form",
  responses: { 200: LlamaServerSlotChange },
  errors: [...modelErrors, "not_enabled"],
  example: { filename: "chat.bin" },
  namesNoModel: true,
  id: "The number of a slot.",
} satisfies Route;

export function addSlots(app: FastifyInstance, options: InferenceOptions): void {
  addRoute(app, list, async (request): Promise<LlamaServerSlots> => {
    const { model: id, fail_on_no_slot: fails } = request.query;
    const { model } = await leaseModel(request, options, { model: id, mayMeanAny: true });
    const own = model.slots.inUse(request.cacheSalt(undefined));
    const slots = listSlots(model, request.seesAll ? model.stats().running : own);
    if (fails !== undefined && slots.every((slot) => slot.is_processing))
      throw new WireError("overloaded", "All slots are in use; another request would wait.");
    return slots;
  });
  addRoute(app, changeSlot, async (request): Promise<LlamaServerSlotChange> => {
    const { action, model: name } = request.query;
    const { model } = await leaseModel(request, options, { model: name, mayMeanAny: true });
    if (!model.slots.hasFolder) {
      const message = "Slots can be changed only if the server is started with --slot-save-path FOLDER.";
      throw new WireError("not_enabled", message);
    }
    const id = slotIn(request.params.id);
    const { filename, cache_salt } = request.body;
    const change = { signal: request.clientSignal, cacheSalt: request.cacheSalt(cache_salt) };
    if (action === "erase") {
      const { tokens: n_erased } = await model.slots.erase(id, change);
      return { id_slot: id, n_erased };
    }
    if (filename === undefined)
      throw new WireError("invalid_request", "filename is missing.", { param: "filename" });
    const began = performance.now();
    const work =
      action === "save" ? model.slots.save(id, filename, change) : model.slots.restore(id, filename, change);
    return { id_slot: id, filename, ...toChange(action, await work, performance.now() - began) };
  });
}

function slotIn(text: string): number {
  if (/^\d{1,9}$/.test(text)) return Number(text);
  throw new WireError("invalid_request", "The path must end in the number of a slot.", { param: "id" });
}

function toChange(action: "save" | "restore", { tokens, bytes }: SlotChange, ms: number) {
  return action === "save"
    ? { n_saved: tokens, n_written: bytes, timings: { save_ms: ms } }
    : { n_restored: tokens, n_read: bytes, timings: { restore_ms: ms } };
}

/** More requests than slots can be in flight, and one slot can be named by several: only as many are busy as `running` requests. */
function listSlots({ info }: Model, running: number): LlamaServerSlots {
  const { parallel, contextLength: n_ctx } = info;
  return Array.from({ length: parallel }, (_, id) => ({ id, n_ctx, is_processing: id < running }));
}
