// POST /v1/responses: a reply as a list of items, which later requests may continue. Converts a checked request for the engine.
import type { GenerationRequest } from "@ingle/engine";
import {
  inputItems,
  isUnseenItem,
  logprobsIncludable,
  ResponseObject,
  ResponsesEvent,
  ResponsesRequest,
  type ResponsesTextFormat,
} from "@ingle/protocol";
import { contentErrors, generationErrors } from "../../../openapi/operation.ts";
import type { UnreadRequest } from "../../../content/content-parts.ts";
import { toEngineOptions, toThinking, toThinkingLimits } from "../../../generation/engine-fields.ts";
import { samplingReader } from "../../../generation/sampling-fields.ts";
import type { GenerationRoute } from "../../../generation/generation-route.ts";
import { responseKeeper, respondInBackground } from "./keep-response.ts";
import { toEvents, toText, wholeResponse, written } from "./events.ts";
import { toMessages } from "./messages.ts";
import { toResponseBase } from "./response.ts";
import type { ContinuedRequest, StoredResponses } from "./stored-responses.ts";
import { ignoredTypes, toEngineTools, toolFinder } from "./tools.ts";

export type ResponsesRoute = GenerationRoute<ContinuedRequest, ResponsesRequest>;

/** The route with a store; without one, requests that need a store are refused. */
export function responsesRoute(stored: StoredResponses): ResponsesRoute {
  return {
    path: "/v1/responses",
    body: ResponsesRequest,
    operation: {
      summary: "A reply as a list of items, whole, as events, or in the background",
      responses: { 200: ResponseObject },
      event: ResponsesEvent,
      errors: [...generationErrors, ...contentErrors, "disk_full"],
      example: { input: "What is the capital of France?" },
    },
    conventions: {
      fieldNames: { responseFormat: "text.format", toolChoice: "tool_choice", minTokens: "min_tokens" },
    },
    idPrefix: "resp_",
    tracedAs: "chat",
    complete: (body, request) => ({ ...body, earlier: stored.earlier(body, request) }),
    toEngine: (body) => ({
      prompts: [toResponsesRequest(body)],
      user: body.user ?? body.safety_identifier,
      ignored: ignoredParts(body),
    }),
    respond: (running) => {
      const { body, head, generation, now, newId } = running;
      const [request] = running.requests;
      const { id, created, model } = head;
      const { temperature = request?.temperature, top_p = request?.topP } = body;
      const settings = { ...body, temperature, top_p };
      const base = toResponseBase(settings, { id, created_at: created, model, store: stored.keeps(body) });
      if (base.background) return respondInBackground(running, { base, stored });
      const keep = responseKeeper(running, stored);
      const findTool = toolFinder(body.tools);
      const stream = toEvents(base, generation, { now, newId, findTool, keep });
      return {
        whole: () => wholeResponse(stream),
        events: () => written(stream),
        errorEvents: ({ error }) => stream.failure(error).map(toText).join(""),
      };
    },
  };
}

const toSampling = samplingReader(ResponsesRequest);

/** Absent fields stay absent: their defaults are the engine's. */
export function toResponsesRequest(body: ResponsesRequest & Partial<ContinuedRequest>): UnreadRequest {
  return {
    messages: toMessages(body),
    ...toSampling(body),
    maxTokens: body.max_output_tokens,
    ...toEngineOptions(body),
    logprobs: toLogprobs(body),
    responseFormat: toResponseFormat(body.text?.format),
    ...toEngineTools(body),
    parallelToolCalls: body.parallel_tool_calls,
    ...toThinking(body.reasoning?.effort, body.chat_template_kwargs),
    ...toThinkingLimits(body, body.reasoning?.max_tokens),
  };
}

/** Nested fields that the request sets and the response ignores. */
export function ignoredParts(body: ResponsesRequest): string[] {
  const { input, tools, text, truncation, reasoning, include = [] } = body;
  const unseen = new Set(
    inputItems(input)
      .filter(isUnseenItem)
      .map(({ type }) => type),
  );
  const isVerbosityKept = (text?.verbosity ?? "medium") === "medium";
  return [
    ...ignoredTypes(tools).map((type) => `tools (${type})`),
    ...(isVerbosityKept ? [] : ["text.verbosity"]),
    ...(truncation === "auto" ? ["truncation"] : []),
    ...(reasoning?.context === undefined ? [] : ["reasoning.context"]),
    ...(reasoning?.mode === undefined ? [] : ["reasoning.mode"]),
    ...(asksForDetail(input) ? ["input_image.detail"] : []),
    ...include.filter((value) => value !== logprobsIncludable).map((value) => `include (${value})`),
    ...[...unseen].map((type) => `input (${type})`),
  ];
}

/** The server's settings decide the resolution of images. */
function asksForDetail(input: ResponsesRequest["input"]): boolean {
  return inputItems(input).some((item) => {
    const content = "content" in item ? item.content : "output" in item ? item.output : undefined;
    return (
      Array.isArray(content) &&
      content.some((part) => part.type === "input_image" && (part.detail ?? "auto") !== "auto")
    );
  });
}

/** Requested by name in `include`, or by `top_logprobs`. */
function toLogprobs({ include = [], top_logprobs: count = 0 }: ResponsesRequest): number | undefined {
  return count > 0 || include.includes(logprobsIncludable) ? count : undefined;
}

function toResponseFormat(format: ResponsesTextFormat | undefined): GenerationRequest["responseFormat"] {
  if (format?.type === "json_object") return { type: "json" };
  if (format?.type !== "json_schema") return undefined;
  return { type: "json_schema", schema: format.schema, strict: format.strict };
}
