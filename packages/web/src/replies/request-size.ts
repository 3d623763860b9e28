// How many tokens a request has, and how many its model can have, as the server says.
import { client, findModel } from "../connection/connection.ts";
import type { StreamedChatBody } from "./chat-request.ts";

/** The tokens of a request's prompt. Loads the model. */
export async function countRequest(body: StreamedChatBody, signal: AbortSignal): Promise<number> {
  const { model, messages, tools, reasoning_effort, continue_final_message } = body;
  const counted = { model, messages, tools, reasoning_effort, continue_final_message };
  return (await client.tokenize(counted, { signal })).count;
}

/** The tokens of a text in a prompt. Loads the model. */
export async function countText(model: string, content: string, signal: AbortSignal): Promise<number> {
  return (await client.tokenize({ model, content, add_special: false }, { signal })).count;
}

/** The context of a model, which is loaded for it; null if it has none. */
export async function readContextLength(model: string, signal: AbortSignal): Promise<number | null> {
  // Counting loads the model, after which its context is known.
  if (findModel(model)?.status !== "loaded") await countText(model, "?", signal);
  return (await client.models.retrieve(model, { signal })).context_length ?? null;
}
