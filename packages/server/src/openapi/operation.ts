// What a route declares for /openapi.json and /docs, in addition to its path and its body's schema (http/add-route.ts).
// This is only documentation: responses are neither checked nor serialized with these schemas.
import type { WireErrorCode } from "@ingle/protocol";
import type { z } from "zod";
import type { Right } from "../access/rights.ts";

/** The media type of a response that is not JSON. */
type TextType = `text/${string}`;

export interface Operation {
  /** What it does, in a few words. */
  summary: string;
  /** More details, in a sentence or two. */
  description?: string;
  /** Successful responses by status: JSON with this schema, or text. */
  responses: Readonly<Record<number, z.ZodType | TextType>>;
  /** The data of one event, if the response can also be a stream; a union if there are several kinds. */
  event?: z.ZodType;
  /** Error codes in addition to those of every route. Default: none. */
  errors?: readonly WireErrorCode[];
  /** The body of its errors and of error events. Default: `ErrorBody`. */
  errorBody?: z.ZodType;
  /** The media type of the body, if it is not JSON. */
  bodyType?: "multipart/form-data";
  /** A body that succeeds with any model, without `model`. Tests send it. Required if the route has a body of JSON. */
  example?: Readonly<Record<string, unknown>>;
  /** The body has no `model` field. */
  namesNoModel?: true;
  /** Describes the `{id}` of the path. */
  id?: string;
}

/** One registered method of one path. */
export interface ListedRoute {
  method: string;
  /** In the router's form: `/v1/models/*`. */
  path: string;
  body: z.ZodType | undefined;
  /** Schema of the query string. */
  query?: z.ZodType | undefined;
  /** The right that a request needs; `none` means that everybody may send it. */
  right: Right;
  operation: Operation | undefined;
}

/** Errors of a route that needs a model. */
export const modelErrors = [
  "model_not_found",
  "overloaded",
  "engine_failed",
  "model_loading",
  "out_of_memory",
  "shutting_down",
] as const satisfies readonly WireErrorCode[];

/** Errors of a route whose messages may have images and documents. */
export const contentErrors = [
  "image_invalid",
  "image_not_supported",
  "document_invalid",
] as const satisfies readonly WireErrorCode[];

/** Errors of a route whose messages may also have audio. */
export const audioErrors = [
  "audio_invalid",
  "audio_not_supported",
] as const satisfies readonly WireErrorCode[];

/** Errors of a route that computes a prompt. */
export const generationErrors = [
  ...modelErrors,
  "cancelled",
  "context_length_exceeded",
  "generation_not_supported",
] as const satisfies readonly WireErrorCode[];
