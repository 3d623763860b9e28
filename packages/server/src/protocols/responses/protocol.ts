// POST /v1/responses: a reply as a list of items. Nothing is stored.
import { ResponseObject, ResponsesEvent, ResponsesRequest } from "@ingle/protocol";
import { generationErrors } from "../../openapi/operation.ts";
import type { GenerationProtocol } from "../protocol.ts";
import { toEvents, toText, wholeResponse, written } from "./events.ts";
import { ignoredParts, toResponsesRequest } from "./request.ts";
import { toResponseBase } from "./response.ts";

export const responses: GenerationProtocol<ResponsesRequest> = {
  path: "/v1/responses",
  body: ResponsesRequest,
  operation: {
    summary: "A reply as a list of items, whole or as events",
    answers: { 200: ResponseObject },
    event: ResponsesEvent,
    errors: [...generationErrors, "image_invalid", "image_not_supported"],
    example: { input: "What is the capital of France?" },
  },
  conventions: { fieldNames: { responseFormat: "text.format", toolChoice: "tool_choice" } },
  idPrefix: "resp_",
  tracedAs: "chat",
  toEngine: (body, variant) => ({
    prompts: [toResponsesRequest(body, variant)],
    user: body.user ?? body.safety_identifier,
    ignored: ignoredParts(body),
  }),
  respond: ({ body, head, generation, now, newId }) => {
    const { id, created, model } = head;
    const base = toResponseBase(body, { id, created_at: created, model });
    const stream = toEvents(base, generation, { now, newId });
    return {
      whole: () => wholeResponse(stream),
      events: () => written(stream),
      errorEvents: ({ error }) => stream.failure(error).map(toText).join(""),
    };
  },
};
