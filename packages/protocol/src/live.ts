// What a server is doing, as it happens: the events of GET /api/v1/events, and what may be asked about single requests.
import { z } from "zod";
import { ManagedModel, ServerState } from "./control.ts";
import { Job } from "./jobs.ts";
import { ServerControl } from "./server-control.ts";

/** Finished requests that are still told of. */
export const finishedRequestsMax = 100;
/** Log lines that a server keeps, and sends a new listener first. */
export const logLinesMax = 500;
/** Most UTF-16 units that are kept of one body or answer, while bodies are kept: its beginning. */
export const keptBodyLengthMax = 32_768;
/** Requests whose bodies are kept; the oldest is forgotten first. */
export const keptBodiesMax = 50;
/** Most UTF-16 units of all kept bodies together, at most two bytes each. Every event repeats them, so this also bounds an event. */
export const keptBodiesLengthMax = 262_144;
/** Most characters of a request's id in `requests`: that of `x-request-id`, and a number where two requests have the same. */
const requestIdLengthMax = 160;

const requestIdRule = "id must be the id of a request";

/** A request that a model works on, once it is let in. It holds none of the text, unless bodies are kept. */
export const LiveRequest = z
  .object({
    id: z.string().meta({
      description:
        "The response's `x-request-id`; followed by `~` and a number where another request has the same.",
    }),
    method: z.string(),
    path: z.string(),
    model: z.string().nullable(),
    client: z.string().meta({ description: "The address that it came from." }),
    key: z.string().nullable().meta({
      description:
        "The name of its API key, or the setting that the key comes from; null without a key, and with the app's own token.",
    }),
    status: z.enum(["waiting", "prompt", "generating", "done", "failed", "cancelled"]).meta({
      description:
        "`waiting` for the model or for a place; the engine tells only how many wait, so the newest are taken to be those.",
    }),
    http_status: z.int().nullable().meta({
      description: "Null while it runs. An error inside a stream has the status of its code.",
    }),
    started_at: z.number().meta({ description: "Unix seconds, with a fraction." }),
    seconds: z.number().meta({ description: "Since its arrival, or in all." }),
    prompt_tokens: z.int().nullable().meta({ description: "Null until the prompt is tokenized." }),
    cached_tokens: z.int().nullable().meta({
      description: "Of them, found in the prefix cache; known when the request is done.",
    }),
    completion_tokens: z.int(),
    tokens_per_second: z.number().nullable().meta({
      description: "From the first piece of the answer to the latest; null before the second.",
    }),
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
    cached_share: z.number().nullable().meta({
      description:
        "0 to 1: prompt tokens found in the prefix cache, of requests done since the start; null before the first.",
    }),
    memory_bytes: z.int().meta({ description: "Resident memory of the process." }),
  })
  .meta({ id: "LiveFigures" });
export type LiveFigures = z.infer<typeof LiveFigures>;

/** A line of the log, of level info and above. It has no prompts, answers or keys: the log has none. */
export const LogLine = z
  .object({
    number: z.int().meta({ description: "Rises by one." }),
    time: z.number().meta({ description: "Unix seconds, with a fraction." }),
    level: z.enum(["info", "warn", "error"]),
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

/** The body of `POST /api/v1/requests/cancel`; the answer is the request, which has ended. */
export const CancelRequest = z
  .looseObject({ id: z.string(requestIdRule).min(1, requestIdRule).max(requestIdLengthMax, requestIdRule) })
  .meta({ id: "CancelRequest" });
export type CancelRequest = z.infer<typeof CancelRequest>;

/** The body of `POST /api/v1/requests/bodies`: whether bodies are kept, in memory alone. Off forgets those that are there. */
export const KeepBodiesRequest = z
  .looseObject({ keep: z.boolean("keep must be true or false") })
  .meta({ id: "KeepBodiesRequest" });
export type KeepBodiesRequest = z.infer<typeof KeepBodiesRequest>;

/** Its answer. */
export const KeptBodies = z
  .object({ keeps_bodies: z.boolean().meta({ description: "Whether bodies are kept from now on." }) })
  .meta({ id: "KeptBodies" });
export type KeptBodies = z.infer<typeof KeptBodies>;
