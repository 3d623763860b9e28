// The live events of a server (GET /api/v1/events), and the requests to cancel a generation or keep bodies.
import { z } from "zod";

import { ChatEvent } from "./chats.ts";
import { Job } from "./jobs.ts";
import { ManagedModel } from "./models.ts";
import { ServerControl } from "./server.ts";
import { ServerState } from "./state.ts";
import { requestObject, responseObject } from "../fields/field.ts";

/** Maximum number of finished requests that events list. */
export const finishedRequestsMax = 100;
/** Maximum number of log lines that a server keeps, and sends to a new listener. */
export const logLinesMax = 500;
/** Maximum length that is kept from the start of one request or response body, in UTF-16 units. */
export const keptBodyLengthMax = 32_768;
/** Maximum number of requests whose bodies are kept; the oldest is dropped first. */
export const keptBodiesMax = 50;
/** Maximum total length of all kept bodies, in UTF-16 units. Every event repeats them, so this also limits the size of an event. */
export const keptBodiesLengthMax = 262_144;
/** Maximum length of a request's id, in characters: its `x-request-id`, and a number if two requests have the same. */
const requestIdLengthMax = 160;

const requestIdRule = "id must be the id of a request";

/** A request in flight or finished. It has no text unless bodies are kept. */
export const LiveRequest = responseObject("LiveRequest", {
  id: z
    .string()
    .describe("The response's `x-request-id`; followed by `~` and a number if another request has the same."),
  method: z.string(),
  path: z.string(),
  model: z.string().nullable(),
  client: z.string().describe("The client's address."),
  key: z
    .string()
    .nullable()
    .describe(
      "The name of its API key, or the setting of the key; null without a key, and for the app's own token.",
    ),
  status: z
    .enum(["waiting", "prompt", "generating", "done", "failed", "cancelled"])
    .describe(
      "`waiting`: for the model or in the queue. The engine only reports how many wait, so the newest are shown as waiting.",
    ),
  http_status: z
    .int()
    .nullable()
    .describe("Null while it runs. For an error inside a stream, the status of its code."),
  started_at: z.number().describe("Unix seconds, with a fraction."),
  seconds: z.number().describe("Time since its arrival, or in total."),
  prompt_tokens: z.int().nullable().describe("Null until the prompt is tokenized."),
  cached_tokens: z
    .int()
    .nullable()
    .describe("Prompt tokens from the prefix cache; null until the request is done."),
  completion_tokens: z.int(),
  tokens_per_second: z
    .number()
    .nullable()
    .describe("From the first piece of the reply to the latest; null before the second."),
  can_cancel: z.boolean(),
  body: z.string().nullable().describe("The start of the request body, while bodies are kept."),
  answer: z.string().nullable().describe("The start of the response, while bodies are kept."),
});
export type LiveRequest = z.infer<typeof LiveRequest>;

/** The server's figures; rates are those of the last second. */
export const LiveFigures = responseObject("LiveFigures", {
  prompt_tokens_per_second: z.number(),
  completion_tokens_per_second: z.number(),
  running: z.int(),
  waiting: z.int(),
  kv_used: z
    .number()
    .nullable()
    .describe("The used share of the KV cache, 0 to 1; null without a loaded model."),
  cached_share: z
    .number()
    .nullable()
    .describe(
      "The share of prompt tokens from the prefix cache since the start, 0 to 1; null before the first request is done.",
    ),
  memory_bytes: z.int().describe("Resident memory of the process."),
});
export type LiveFigures = z.infer<typeof LiveFigures>;

/** A line of the log, of level info and above. The log has no prompts, replies or keys. */
export const LogLine = responseObject("LogLine", {
  number: z.int().describe("Increases by one for each line."),
  time: z.number().describe("Unix seconds, with a fraction."),
  level: z.enum(["info", "warn", "error"]),
  message: z.string(),
  details: z.record(z.string(), z.unknown()),
});
export type LogLine = z.infer<typeof LogLine>;

/**
 * An event of `GET /api/v1/events`. `state` is complete each time: the first comes at once, then one after each change, at most
 * every half second. `log` has the lines since the last one. `chats` comes from the app's control address alone, at once.
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
      requests: z.array(LiveRequest).describe("Newest first."),
      keeps_bodies: z.boolean(),
    }),
    z.object({ type: z.literal("log"), lines: z.array(LogLine) }),
    z.object({ type: z.literal("chats"), events: z.array(ChatEvent) }),
  ])
  .meta({ id: "LiveEvent" });
export type LiveEvent = z.infer<typeof LiveEvent>;

/** The body of `POST /api/v1/requests/cancel`; the response is the request, which has ended. */
export const CancelRequest = requestObject("CancelRequest", {
  id: z.string(requestIdRule).min(1, requestIdRule).max(requestIdLengthMax, requestIdRule),
});
export type CancelRequest = z.infer<typeof CancelRequest>;

/** The body of `POST /api/v1/requests/bodies`: whether bodies are kept (in memory only). Turning it off deletes the kept ones. */
export const KeepBodiesRequest = requestObject("KeepBodiesRequest", {
  keep: z.boolean("keep must be true or false"),
});
export type KeepBodiesRequest = z.infer<typeof KeepBodiesRequest>;

/** Its response. */
export const KeptBodies = responseObject("KeptBodies", {
  keeps_bodies: z.boolean().describe("Whether bodies are kept from now on."),
});
export type KeptBodies = z.infer<typeof KeptBodies>;
