// The interface between a route that generates text and the server. Chat completions, messages and the others each implement it in the
// folder of their API; add-generation-route.ts does everything that they have in common:
//
//   body ──▶ toEngine ──▶ prompts ──▶ model, images, generations ──▶ respond ──▶ whole, or events
import type { Generation, GenerationRequest, Model } from "@ingle/engine";
import type { ErrorBody } from "@ingle/protocol";
import type { FastifyRequest } from "fastify";
import type { z } from "zod";
import type { ErrorShape, FieldNames } from "../http/to-wire-error.ts";
import type { Operation } from "../openapi/operation.ts";
import type { Lease } from "../models/slot/slot-interface.ts";
import type { UnreadRequest } from "../content/content-parts.ts";
import type { InferenceOptions } from "./inference.ts";
import type { ResponseHead } from "./usage.ts";

export interface GenerationRoute<Body extends GenerationBody, Sent extends GenerationBody = Body> {
  /** Its path, for POST requests, such as `/v1/chat/completions`. */
  readonly path: string;
  /** Checks the body of a request. */
  readonly body: z.ZodType<Sent>;
  /** Adds the server's data from earlier requests to the body. Default: nothing; `Sent` is `Body`. */
  readonly complete?: (body: Sent, request: FastifyRequest) => Body;
  /** Describes the route in the API's document. */
  readonly operation: Operation;
  readonly conventions?: WireConventions;
  /** Default: server-sent events, if the request asks for a stream. */
  readonly streaming?: Streaming;
  /** The start of a stream, while the request waits for its model. Default: nothing is sent until the model is available. */
  readonly opening?: Opening<Body>;
  /** Answers a request that generates nothing; undefined for one that does. Default: every request generates. */
  readonly respondDirectly?: (
    body: Body,
    request: FastifyRequest,
    options: InferenceOptions,
  ) => Promise<object | undefined>;
  /** Leases the request's model. Default: `leaseModel`, with the body's `model`. */
  readonly lease?: (
    body: Body,
    request: FastifyRequest,
    options: InferenceOptions & { places: number },
  ) => Promise<Lease>;
  /** The prefix of every response's id, such as `chatcmpl-`. */
  readonly idPrefix: string;
  /** The operation's name in traces, by OpenTelemetry's GenAI conventions. */
  readonly tracedAs: "chat" | "text_completion";
  /** Converts the request for the engine. Throws a `WireError` for mistakes that the schema cannot detect. */
  readonly toEngine: (body: Body) => EngineRequest;
  /** The response to a request whose generations are running. */
  readonly respond: (running: RunningRequest<Body>) => GenerationResponse;
}

/** How a route streams, if not as server-sent events. */
export interface Streaming {
  readonly contentType: string;
  /** Whether a response is streamed unless the request has `stream: false`. */
  readonly isDefault: boolean;
}

/** The events before those of the response. */
export interface Opening<Body> {
  /**
   * Yields events as text; there may be none. Ends at the latest when `started` settles, and never throws. After its first event,
   * an error no longer has an HTTP status.
   */
  readonly events: (
    body: Body,
    options: InferenceOptions,
    started: Promise<unknown>,
  ) => AsyncIterable<string>;
  /** The events that end a stream whose request could not be started. */
  readonly errorEvents: (error: ErrorBody) => string;
}

/** The fields of every body. */
export interface GenerationBody {
  /** Absent: the served model. */
  model?: string | undefined;
  /** Default: that of the route's `streaming`, else false. */
  stream?: boolean | undefined;
}

/** Conventions of all routes of one API, for a route's `config`. */
export interface WireConventions {
  /** Default: the engine's names. */
  readonly fieldNames?: FieldNames;
  /** Default: `ErrorBody` as it is. */
  readonly errorShape?: ErrorShape;
  /** Header that repeats the request's id, beside `x-request-id`. */
  readonly requestIdHeader?: string;
}

interface EngineRequest {
  /** At least one. Their images have yet to be read, which needs the model. */
  readonly prompts: readonly Prompt[];
  /** Default: 1. */
  readonly repliesPerPrompt?: number | undefined;
  /** The user that the client names, for fair shares. */
  readonly user?: string | undefined;
  /** Fields for which the route has defaults of its own, below those of the server. Default: none. */
  readonly defaults?: Partial<GenerationRequest>;
  /** Names of fields that are set and that the response ignores. */
  readonly ignored?: readonly string[];
}

export type Prompt = UnreadRequest | TextRequest | PromptOfModel;

type TextRequest = Extract<GenerationRequest, { prompt: unknown }>;

/** A prompt that only the model can format, with its tokens. */
export type PromptOfModel = (model: Model) => Promise<TextRequest>;

export interface RunningRequest<Body> {
  readonly body: Body;
  readonly head: ResponseHead;
  readonly model: Model;
  /** `repliesPerPrompt` generations per prompt, in the order of the prompts. */
  readonly generations: readonly Generation[];
  /** The first generation; the only one for routes with one prompt and one reply. */
  readonly generation: Generation;
  /** The requests of the generations, one per prompt, with all defaults but the engine's. */
  readonly requests: readonly GenerationRequest[];
  readonly request: FastifyRequest;
  /** When the request arrived and when its model was available, on `performance.now()`'s clock. */
  readonly startedAt: number;
  readonly leasedAt: number;
  readonly now: () => Date;
  /** Unique letters and digits. */
  readonly newId: () => string;
}

export interface GenerationResponse {
  /** The complete response. Rejects with the error of the first failed generation. */
  readonly whole: () => Promise<object | string>;
  /**
   * The response as the text of server-sent events, or of the route's `streaming`. Before the first event, which comes with
   * the first token, an error still has an HTTP status. Throws what a generation throws.
   */
  readonly events: () => AsyncIterable<string>;
  /** The events that end a stream after an error. Default: one event with the error's body. */
  readonly errorEvents?: (error: ErrorBody) => string;
}
