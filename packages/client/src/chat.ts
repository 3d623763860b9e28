// `client.chat.completions`: one call for both forms of a reply.
import type { ChatCompletion, ChatCompletionBody } from "@ingle/protocol";

import { isRecord } from "./answer.ts";
import { ChatStream } from "./chat-stream.ts";
import type { Transport } from "./transport.ts";

/** What every call takes beside its body. */
export interface CallOptions {
  /** Ends the call, which then rejects with the signal's reason; the server stops working on it. */
  signal?: AbortSignal | undefined;
}

/** The chat completions of a server. */
export interface ChatCompletions {
  /** Resolves when the reply begins; the stream gives its chunks as they come. */
  create(body: ChatCompletionBody & { stream: true }, options?: CallOptions): Promise<ChatStream>;
  /** Resolves with the whole reply. */
  create(
    body: ChatCompletionBody & { stream?: false | null | undefined },
    options?: CallOptions,
  ): Promise<ChatCompletion>;
  /** For a body whose form is not known beforehand. */
  create(body: ChatCompletionBody, options?: CallOptions): Promise<ChatCompletion | ChatStream>;
}

function isChatCompletion(value: unknown): value is ChatCompletion {
  return isRecord(value) && Array.isArray(value["choices"]);
}

/** Makes `client.chat.completions`. */
export function createChatCompletions(transport: Transport): ChatCompletions {
  function create(body: ChatCompletionBody & { stream: true }, options?: CallOptions): Promise<ChatStream>;
  function create(
    body: ChatCompletionBody & { stream?: false | null | undefined },
    options?: CallOptions,
  ): Promise<ChatCompletion>;
  function create(body: ChatCompletionBody, options?: CallOptions): Promise<ChatCompletion | ChatStream>;
  async function create(
    body: ChatCompletionBody,
    options: CallOptions = {},
  ): Promise<ChatCompletion | ChatStream> {
    const request = { method: "POST", path: "/chat/completions", body, signal: options.signal } as const;
    if (body.stream === true) return new ChatStream(await transport.stream(request));
    return await transport.json(request, isChatCompletion);
  }
  return { create };
}
