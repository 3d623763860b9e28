// POST /v1/chat/completions/control: has a model that is thinking reply now. llama-server's route.
import { ChatControl, ChatControlRequest } from "@ingle/protocol";
import type { FastifyInstance } from "fastify";
import { addRoute, type Route } from "../../../http/add-route.ts";
import { WireError } from "../../../wire-error.ts";

const control = {
  path: "POST /v1/chat/completions/control",
  right: "inference",
  body: ChatControlRequest,
  summary: "End the thought of a running reply",
  description: "The model then replies with what it has thought so far. Also for messages and responses.",
  responses: { 200: ChatControl },
  errors: ["not_found"],
  example: { id: "chatcmpl-none", action: "reasoning_end" },
  namesNoModel: true,
} satisfies Route;

export function addChatControl(app: FastifyInstance): void {
  addRoute(app, control, async ({ body: { id }, key }): Promise<ChatControl> => {
    const running = app.requestBoard.ofResponse(id, key?.digest ?? null);
    if (running.endThinking()) return { success: true };
    const message =
      "The thought of this reply cannot be ended: it has none, or its model's chat template does not tell how one ends.";
    throw new WireError("invalid_request", message, { param: "id" });
  });
}
