// What a server is doing, as it happens: the events of GET /api/v1/events, and what may be asked about single requests.
import { z } from "zod";
import { ManagedModel, ServerState } from "./control.ts";
import { Job } from "./jobs.ts";
import { flag } from "./request-fields.ts";
import { ServerControl } from "./server-control.ts";

/** Finished requests that are still told of. */
export const finishedRequestsMax = 100;
/** Log lines that a new listener is sent first. */
export const logLinesMax = 500;
/** Most UTF-16 units that are kept of a request's and of an answer's body, where bodies are kept at all. */
export const keptBodyLengthMax = 65_536;

/** A request for a generation, from its arrival on. It holds nothing of what was written, unless bodies are kept. */
export const LiveRequest = z
  .object({
    id: z.string().meta({ description: "The answer's `x-request-id`." }),
    method: z.string(),
    path: z.string(),
    model: z.string().nullable(),
    client: z.string().meta({ description: "The address that it came from." }),
    key: z.string().nullable().meta({ description: "The name or the end of its API key." }),
    status: z.enum(["waiting", "prompt", "generating", "done", "failed", "cancelled"]),
    http_status: z.int().nullable(),
    started_at: z.number().meta({ description: "Unix seconds, with a fraction." }),
    seconds: z.number().meta({ description: "Since its arrival, or in all." }),
    prompt_tokens: z.int(),
    cached_tokens: z.int().meta({ description: "Of them, found in the cache." }),
    completion_tokens: z.int(),
    tokens_per_second: z.number().nullable(),
    can_cancel: z.boolean(),
    body: z.string().nullable().meta({ description: "While bodies are kept: its beginning." }),
    answer: z.string().nullable().meta({ description: "The same of the answer." }),
  })
  .meta({ id: "LiveRequest" });
export type LiveRequest = z.infer<typeof LiveRequest>;

/** Rates are of the last second. */
export const LiveFigures = z
  .object({
    prompt_tokens_per_second: z.number(),
    completion_tokens_per_second: z.number(),
    running: z.int(),
    waiting: z.int(),
    kv_used: z
      .number()
      .nullable()
      .meta({ description: "0 to 1 of the KV cache; null without a loaded model." }),
    cached_share: z
      .number()
      .nullable()
      .meta({ description: "0 to 1: prompt tokens found in the cache since the start." }),
    memory_bytes: z.int().meta({ description: "Resident memory of the process." }),
  })
  .meta({ id: "LiveFigures" });
export type LiveFigures = z.infer<typeof LiveFigures>;

/** A line of the log. It has no prompts, answers or keys: the log has none. */
export const LogLine = z
  .object({
    number: z.int().meta({ description: "Rises by one." }),
    time: z.number().meta({ description: "Unix seconds, with a fraction." }),
    level: z.enum(["debug", "info", "warn", "error"]),
    message: z.string(),
    details: z.record(z.string(), z.unknown()),
  })
  .meta({ id: "LogLine" });
export type LogLine = z.infer<typeof LogLine>;

/**
 * An event of `GET /api/v1/events`. `state` is whole each time: the first comes at once, then one whenever it has changed, at
 * most each half second. `log` has the lines since the last one.
 */
export const LiveEvent = z
  .discriminatedUnion("type", [
    z.object({
      type: z.literal("state"),
      state: ServerState,
      models: z.array(ManagedModel),
      jobs: z.array(Job),
      server: ServerControl,
      figures: LiveFigures,
      requests: z.array(LiveRequest).meta({ description: "The newest first." }),
      keeps_bodies: z.boolean(),
    }),
    z.object({ type: z.literal("log"), lines: z.array(LogLine) }),
  ])
  .meta({ id: "LiveEvent" });
export type LiveEvent = z.infer<typeof LiveEvent>;

/** The body of `POST /api/v1/requests/cancel`; the answer is the request. */
export const RequestOrder = z.looseObject({ id: z.string().min(1).max(128) }).meta({ id: "RequestOrder" });
export type RequestOrder = z.infer<typeof RequestOrder>;

/** The body of `POST /api/v1/requests/bodies`: whether bodies are kept, in memory alone. Off forgets those that are there. */
export const BodiesOrder = z.looseObject({ keep: flag("keep") }).meta({ id: "BodiesOrder" });
export type BodiesOrder = z.infer<typeof BodiesOrder>;

/** Its answer. */
export const KeptBodies = z
  .object({ keeps_bodies: z.boolean().meta({ description: "Whether bodies are kept from now on." }) })
  .meta({ id: "KeptBodies" });
export type KeptBodies = z.infer<typeof KeptBodies>;
