// The state of a running server and of its machine: GET /api/v1/state and GET /api/v1/machine.
import { Machine, ServerState } from "@ingle/protocol";
import type { FastifyInstance } from "fastify";
import type { InferenceOptions } from "../../generation/inference.ts";
import { modelMemory } from "./managed-model.ts";
import { mayUseAll, type MayUse } from "../../access/rights.ts";
import { isInMemory } from "../../models/slot/model-state.ts";
import { ingleVersion } from "../../this-package.ts";
import { WireError } from "../../wire-error.ts";
import { addRoute, type Route } from "../../http/add-route.ts";
import { serverReadiness } from "./monitoring.ts";
import { toUnixSeconds } from "../../seconds.ts";

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
export interface StateOptions extends Pick<InferenceOptions, "registry" | "variant" | "now"> {
  /** Absent: this server does not describe its machine. */
  machine?: (() => Promise<Machine>) | undefined;
}

export function addState(app: FastifyInstance, options: StateOptions): void {
  const { machine } = options;
  const readState = stateReader(app, options);

  addRoute(app, state, async ({ seesAll, key, mayUse }) => {
    const own = seesAll ? {} : app.requestBoard.countsOf(key?.digest ?? null);
    return { ...readState(mayUse), ...own };
  });
  addRoute(app, machineInfo, async () => {
    if (machine !== undefined) return await machine();
    throw new WireError("not_found", "This server does not describe its machine.");
  });
}

/** Returns a function that reads the server's current state. */
export function stateReader(
  app: FastifyInstance,
  { registry, variant, now }: StateOptions,
): (mayUse?: MayUse) => ServerState {
  const startedAt = toUnixSeconds(now());
  return (mayUse = mayUseAll) => {
    const { running, waiting } = registry.stats();
    const loaded = registry.slots
      .filter((slot) => isInMemory(slot.state) && mayUse(slot))
      .map(({ id }) => id);
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
