// The turns of chats in LM Studio's API v1: loads the chat that a request continues, and keeps its reply.
import type { GenerationResult } from "@ingle/engine";
import type { LmStudioChatRequest, LmStudioChatResponse, LmStudioInputItem } from "@ingle/protocol";
import { WireError } from "../../../wire-error.ts";
import { toContent, type UnreadMessage, type UnreadPart } from "../../../content/content-parts.ts";
import type { RunningRequest } from "../../../generation/generation-route.ts";
import { toChatResponse } from "./chat-response.ts";
import { StoredChats, type StoredChat } from "./stored-chats.ts";

/** What belongs to a request besides its body. */
export interface ChatTurn {
  /** The chat before the request. */
  readonly before: StoredChat;
  /** The user's message. */
  readonly asked: UnreadMessage;
  /** Whose chat it is: another key cannot continue it. */
  readonly owner: string;
  /** Whether the request had to wait for its model to be loaded. */
  waitsForLoad: boolean;
  /** Whether the stream began while it waited. */
  isOpened: boolean;
}

export class ChatTurns {
  readonly #chats = new StoredChats();
  readonly #turns = new WeakMap<LmStudioChatRequest, ChatTurn>();

  /** Throws `invalid_request` if the response that the request continues is not kept. */
  begin(body: LmStudioChatRequest, owner: string): LmStudioChatRequest {
    const asked: UnreadMessage = { role: "user", content: toContent(body.input, "input", toPart) };
    const turn = { before: this.#before(body, owner), owner, asked, waitsForLoad: false, isOpened: false };
    this.#turns.set(body, turn);
    return body;
  }

  of(body: LmStudioChatRequest): ChatTurn {
    const turn = this.#turns.get(body);
    if (turn === undefined) throw new Error("A request has no turn before begin().");
    return turn;
  }

  /** The response to a request whose reply is complete. Keeps the chat unless the request forbids it. */
  end(running: RunningRequest<LmStudioChatRequest>, result: GenerationResult): LmStudioChatResponse {
    const { body, head } = running;
    const { before, asked, owner, waitsForLoad } = this.of(body);
    const response = toChatResponse(running, result, { waitsForLoad });
    if (body.store === false) return response;
    const { previous_response_id: previous } = body;
    const reply: UnreadMessage = { role: "assistant", content: result.text, reasoning: result.reasoning };
    this.#chats.add(
      keptId(head.id, owner),
      { system: before.system, messages: [asked, reply] },
      { previousId: previous === undefined ? undefined : keptId(previous, owner), before: before.messages },
    );
    return { ...response, response_id: head.id };
  }

  #before(
    { previous_response_id: id, system_prompt: system }: LmStudioChatRequest,
    owner: string,
  ): StoredChat {
    if (id === undefined) return { system, messages: [] };
    const chat = this.#chats.get(keptId(id, owner));
    if (chat !== undefined) return { ...chat, system: system ?? chat.system };
    const message = `The chat of ${id} is not kept: it was not stored, the server has been restarted, or newer chats have replaced it.`;
    throw new WireError("invalid_request", message, { param: "previous_response_id" });
  }
}

function keptId(id: string, owner: string): string {
  return `${owner} ${id}`;
}

function toPart(item: LmStudioInputItem, place: string): UnreadPart {
  if (item.type !== "image") return { type: "text", text: item.content };
  return { type: "image", url: item.data_url, place, param: `${place}.data_url` };
}
