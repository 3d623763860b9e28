// The state of a server: its probes (/livez, /readyz), GET /api/v1/state, and the machine it runs on.
import { z } from "zod";

import { ModelMemory } from "./models.ts";
import { responseObject } from "../fields/field.ts";

/** The response of `GET /livez`. */
export const Liveness = responseObject("Liveness", { status: z.literal("ok") });
export type Liveness = z.infer<typeof Liveness>;

const serverStatus = z.enum(["ok", "idle", "empty", "loading", "restarting", "failed", "shutting_down"]);

/** The response of `GET /readyz` and `GET /health`, with status 200 or 503. */
export const Readiness = responseObject("Readiness", {
  status: serverStatus.describe(
    "The server accepts requests if it is ok or idle (the next request loads a model).",
  ),
  model: z.string().optional().describe("The model's id."),
  progress: z.number().min(0).max(1).optional().describe("How much is loaded, 0 to 1."),
});
export type Readiness = z.infer<typeof Readiness>;

/** The response of `GET /api/v1/state`. */
export const ServerState = responseObject("ServerState", {
  status: serverStatus,
  version: z.string(),
  variant: z.string(),
  started_at: z.int().describe("Unix seconds."),
  running: z
    .int()
    .describe("Requests that are being computed; for a key that may not manage models, its own."),
  waiting: z
    .int()
    .describe("Requests in the waiting queue, or waiting for a model to be loaded; also its own."),
  loaded: z.array(z.string()).describe("Ids of the models in memory."),
  memory: ModelMemory,
});
export type ServerState = z.infer<typeof ServerState>;

export const MachineDevice = responseObject("MachineDevice", {
  name: z.string().describe("For example CUDA0 or CPU."),
  description: z.string().describe("The name of the processor or the card."),
  kind: z.enum(["cpu", "gpu", "integrated_gpu", "accelerator"]),
  memory_bytes: z.int(),
  free_bytes: z.int(),
});
export type MachineDevice = z.infer<typeof MachineDevice>;

/** The response of `GET /api/v1/machine`. */
export const Machine = responseObject("Machine", {
  platform: z.string().describe("For example linux x64."),
  processor: z.string(),
  cores: z.int().describe("Cores that this process may use."),
  memory_bytes: z.int(),
  available_bytes: z.int().describe("Memory that is available now."),
  library_path: z.string().describe("The folder of the models."),
  disk_free_bytes: z.int().nullable().describe("Free space on the disk of the models."),
  devices: z.array(MachineDevice),
  version: z.string().describe("The version of Ingle."),
  llama_cpp: z.string().describe("The release of llama.cpp."),
});
export type Machine = z.infer<typeof Machine>;
