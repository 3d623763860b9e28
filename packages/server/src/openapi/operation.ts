// What a route declares about itself for /openapi.json and /docs, beside its path and its body's schema: `config: { operation }`.
// A route without it stands in the document all the same, but a test asks for it (docs.test.ts). One line is enough:
//
//   const operation = { summary: "Embed texts", answers: { 200: EmbeddingList }, errors: modelErrors, example };
//   app.post("/v1/embeddings", { schema, config: { operation } }, …)
//
// Nothing here is used to answer: answers are neither checked nor written by these schemas.
import type { WireErrorCode } from "@ingle/protocol";
import type { z } from "zod";
import type { Right } from "../access/rights.ts";

/** A text that is no JSON, by its media type. */
export type TextType = `text/${string}`;

export interface Operation {
  /** What it does, in a few words. */
  summary: string;
  /** What stands behind the summary, in a sentence or two. */
  description?: string;
  /** What is answered when all is well, by status: JSON of a schema, or a text. */
  answers: Readonly<Record<number, z.ZodType | TextType>>;
  /** The data of one event, where the answer may also be a stream; of several kinds, their union. */
  event?: z.ZodType;
  /** Codes that it may answer with beside those that every route has. Default: none. */
  errors?: readonly WireErrorCode[];
  /** The body of its errors, and of an error event. Default: the one of all routes, `ErrorBody`. */
  errorBody?: z.ZodType;
  /** A body that any model answers with 200, without `model`. Tests send it. Needed where there is a body. */
  example?: Readonly<Record<string, unknown>>;
  /** The body is about something else than a model. */
  namesNoModel?: true;
  /** What the `{id}` of the path is. */
  id?: string;
}

/** One method of one path, as it is registered. */
export interface ListedRoute {
  method: string;
  /** In the router's form: `/v1/models/*`. */
  path: string;
  body: z.ZodType | undefined;
  /** What stands behind the path's question mark. */
  query?: z.ZodType | undefined;
  /** What a request needs to be answered; `none` is open to everybody. */
  right: Right;
  operation: Operation | undefined;
}

/** Of a route that needs a model. */
export const modelErrors = [
  "model_not_found",
  "overloaded",
  "engine_failed",
  "model_loading",
  "out_of_memory",
  "shutting_down",
] as const satisfies readonly WireErrorCode[];

/** Of a route that gives a model a prompt. */
export const generationErrors = [
  ...modelErrors,
  "cancelled",
  "context_length_exceeded",
  "generation_not_supported",
] as const satisfies readonly WireErrorCode[];
