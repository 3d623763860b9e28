// POST /api/v1/chat: a reply in a chat that the server keeps, in LM Studio's form, complete or as events.
import {
  LmStudioChatEvent,
  LmStudioChatRequest,
  LmStudioChatResponse,
  LmStudioError,
  type ErrorBody,
} from "@ingle/protocol";
import { isInMemory } from "../../../models/slot/model-state.ts";
import { generationErrors } from "../../../openapi/operation.ts";
import type { UnreadRequest } from "../../../content/content-parts.ts";
import { toThinking } from "../../../generation/engine-fields.ts";
import { samplingReader } from "../../../generation/sampling-fields.ts";
import { leaseSuitable } from "../../../generation/suitable-lease.ts";
import type {
  GenerationRoute,
  GenerationResponse,
  RunningRequest,
} from "../../../generation/generation-route.ts";
import { ChatEvents, toText } from "./chat-events.ts";
import { cutResponse } from "./chat-response.ts";
import { ChatTurns, type ChatTurn } from "./chat-turns.ts";
import { toLmStudioError } from "../conventions.ts";
import { loadEvents } from "./load-events.ts";

/** The route with its own store of chats. */
export function lmStudioChat(): GenerationRoute<LmStudioChatRequest> {
  const turns = new ChatTurns();
  return {
    path: "/api/v1/chat",
    body: LmStudioChatRequest,
    operation: {
      summary: "A reply in a chat that the server keeps, in LM Studio's form",
      responses: { 200: LmStudioChatResponse },
      event: LmStudioChatEvent,
      errors: [...generationErrors, "image_invalid", "image_not_supported"],
      errorBody: LmStudioError,
      example: { input: "What is the capital of France?" },
    },
    conventions: { errorShape: toLmStudioError },
    idPrefix: "resp_",
    tracedAs: "chat",
    complete: (body, { owner }) => turns.begin(body, owner),
    toEngine: (body) => ({ prompts: [toChatRequest(body, turns.of(body))] }),
    lease: async (body, request, options) => {
      const { model, context_length: tokens, reasoning = "off" } = body;
      const slot = model === undefined ? undefined : await options.registry.find(model, request.mayUse);
      turns.of(body).waitsForLoad = slot !== undefined && !isInMemory(slot.state);
      const context = { tokens, field: "context_length" };
      const thinking = { isNeeded: reasoning !== "off", field: "reasoning" };
      return await leaseSuitable({ model, context, thinking }, request, options);
    },
    opening: {
      events: async function* (body, { registry }, started) {
        for await (const event of loadEvents(registry, body.model, started)) {
          turns.of(body).isOpened = true;
          yield toText(event);
        }
      },
      errorEvents: errorEvent,
    },
    respond: (running) => toProtocolResponse(running, turns),
  };
}

function errorEvent(error: ErrorBody): string {
  return toText({ type: "error", ...toLmStudioError(error) });
}

function toProtocolResponse(
  running: RunningRequest<LmStudioChatRequest>,
  turns: ChatTurns,
): GenerationResponse {
  const { generation, head, body } = running;
  const events = new ChatEvents();
  return {
    whole: async () => turns.end(running, await generation),
    events: async function* () {
      if (!turns.of(body).isOpened) yield toText({ type: "chat.start", model_instance_id: head.model });
      yield toText({ type: "prompt_processing.start" });
      for await (const piece of generation) yield* events.piece(piece).map(toText);
      yield* events.end(turns.end(running, await generation)).map(toText);
    },
    errorEvents: (error) => errorEvent(error) + events.end(cutResponse(running, events)).map(toText).join(""),
  };
}

const toSampling = samplingReader(LmStudioChatRequest);

function toChatRequest(
  body: LmStudioChatRequest,
  { before: { system = "", messages }, asked }: Pick<ChatTurn, "before" | "asked">,
): UnreadRequest {
  const instructions = system === "" ? [] : [{ role: "system", content: system } as const];
  return {
    messages: [...instructions, ...messages, asked],
    ...toSampling(body),
    maxTokens: body.max_output_tokens,
    ...toReasoning(body.reasoning),
  };
}

function toReasoning(reasoning: LmStudioChatRequest["reasoning"]) {
  if (reasoning === undefined) return {};
  return reasoning === "off" || reasoning === "on" ? { thinking: reasoning === "on" } : toThinking(reasoning);
}
