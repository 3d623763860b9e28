// The state of a server: its probes (/livez, /readyz), GET /api/v1/state, and the machine it runs on.
import { z } from "zod";

import { ModelMemory } from "./models.ts";

/** The response of `GET /livez`. */
export const Liveness = z.object({ status: z.literal("ok") }).meta({ id: "Liveness" });
export type Liveness = z.infer<typeof Liveness>;

const serverStatus = z.enum(["ok", "idle", "empty", "loading", "failed", "shutting_down"]);

/** The response of `GET /readyz` and `GET /health`, with status 200 or 503. */
export const Readiness = z
  .object({
    status: serverStatus.meta({
      description: "The server accepts requests if it is ok or idle (the next request loads a model).",
    }),
    model: z.string().optional().meta({ description: "The model's id." }),
    progress: z.number().min(0).max(1).optional().meta({ description: "How much is loaded, 0 to 1." }),
  })
  .meta({ id: "Readiness" });
export type Readiness = z.infer<typeof Readiness>;

/** The response of `GET /api/v1/state`. */
export const ServerState = z
  .object({
    status: serverStatus,
    version: z.string(),
    variant: z.string(),
    started_at: z.int().meta({ description: "Unix seconds." }),
    running: z.int().meta({ description: "Requests that are being computed." }),
    waiting: z
      .int()
      .meta({ description: "Requests in the waiting queue, or waiting for a model to be loaded." }),
    loaded: z.array(z.string()).meta({ description: "Ids of the models in memory." }),
    memory: ModelMemory,
  })
  .meta({ id: "ServerState" });
export type ServerState = z.infer<typeof ServerState>;

export const MachineDevice = z
  .object({
    name: z.string().meta({ description: "For example CUDA0 or CPU." }),
    description: z.string().meta({ description: "The name of the processor or the card." }),
    kind: z.enum(["cpu", "gpu", "integrated_gpu", "accelerator"]),
    memory_bytes: z.int(),
    free_bytes: z.int(),
  })
  .meta({ id: "MachineDevice" });
export type MachineDevice = z.infer<typeof MachineDevice>;

/** The response of `GET /api/v1/machine`. */
export const Machine = z
  .object({
    platform: z.string().meta({ description: "For example linux x64." }),
    processor: z.string(),
    cores: z.int().meta({ description: "Cores that this process may use." }),
    memory_bytes: z.int(),
    available_bytes: z.int().meta({ description: "Memory that is available now." }),
    library_path: z.string().meta({ description: "The folder of the models." }),
    disk_free_bytes: z.int().nullable().meta({ description: "Free space on the disk of the models." }),
    devices: z.array(MachineDevice),
    version: z.string().meta({ description: "The version of Ingle." }),
    llama_cpp: z.string().meta({ description: "The release of llama.cpp." }),
  })
  .meta({ id: "Machine" });
export type Machine = z.infer<typeof Machine>;
