// GET /api/v1/machine: the hardware that the server runs on.
import { Machine } from "@ingle/protocol";
import type { FastifyInstance } from "fastify";
import type { Operation } from "../openapi/operation.ts";
import { WireError } from "../wire-error.ts";

const operation: Operation = {
  summary: "Describe the server's machine: processor, memory, disk and devices",
  answers: { 200: Machine },
  errors: ["not_found", "engine_failed"],
};

export interface MachineOptions {
  /** Absent: this server does not describe its machine. */
  machine: (() => Promise<Machine>) | undefined;
}

export async function machineRoutes(app: FastifyInstance, { machine }: MachineOptions): Promise<void> {
  app.get("/api/v1/machine", { config: { right: "management", operation } }, async (): Promise<Machine> => {
    if (machine !== undefined) return await machine();
    throw new WireError("not_found", "This server does not describe its machine.");
  });
}
