// What probes are answered: whether the process runs, and whether requests are taken. Used by the server's health routes.
import { z } from "zod";

/** The answer of `GET /livez`. */
export const Liveness = z.object({ status: z.literal("ok") }).meta({ id: "Liveness" });
export type Liveness = z.infer<typeof Liveness>;

/** The answer of `GET /readyz` and `GET /health`, with 200 and with 503. */
export const Readiness = z
  .object({
    status: z.enum(["ok", "idle", "empty", "loading", "failed", "shutting_down"]).meta({
      description: "ok and idle (none is in memory; the next request loads one) take requests.",
    }),
    model: z.string().optional().meta({ description: "The model's id." }),
    progress: z.number().min(0).max(1).optional().meta({ description: "How far loading is." }),
  })
  .meta({ id: "Readiness" });
export type Readiness = z.infer<typeof Readiness>;
