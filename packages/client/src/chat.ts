// `client.chat.completions`: a reply, complete, as a stream, or as a value of a schema.
import type { ChatCompletion, ChatCompletionBody } from "@ingle/protocol";

import { hasList, isRecord } from "./response-body.ts";
import { ChatStream } from "./chat-stream.ts";
import { createReply } from "./calls.ts";
import type { CreateReply } from "./calls.ts";
import type { ValueSchema } from "./schema.ts";
import { jsonFormat, parseReply } from "./structured.ts";
import type { FormatOptions } from "./structured.ts";
import type { CallOptions, Transport } from "./transport.ts";

/** A message of a request. The message of a reply can be used as one too. */
export type ChatMessage = ChatCompletionBody["messages"][number];

/** A request for a value; the schema sets these fields. */
export type ParseBody = ChatCompletionBody & {
  stream?: false | null | undefined;
  n?: 1 | null | undefined;
  response_format?: undefined;
  grammar?: undefined;
};

export interface ParsedReply<Value> {
  value: Value;
  /** The reply that contained it, with usage and timings. */
  completion: ChatCompletion;
}

export interface ChatCompletions {
  /** A reply, complete or as a stream. */
  create: CreateReply<ChatCompletionBody, ChatCompletion, ChatStream>;
  /** `create` with `stream: true`, and with usage unless `stream_options` says otherwise. */
  stream(
    body: ChatCompletionBody & { stream?: true | null | undefined },
    options?: CallOptions,
  ): Promise<ChatStream>;
  /**
   * Resolves with a value that matches the schema; the server constrains the reply to it token by token. Rejects with a
   * `ParseError`, which has the text, if the reply was cut by its token limit or does not match the schema.
   */
  parse<Value>(
    body: ParseBody,
    schema: ValueSchema<Value>,
    options?: CallOptions & FormatOptions,
  ): Promise<ParsedReply<Value>>;
  /**
   * Ends the thought of a running reply, so that the model replies with what it has thought so far. `id` is that of the reply's chunks.
   * Rejects with `not_found` if the reply has ended, and with `invalid_request` if its thought cannot be ended.
   */
  endThinking(id: string, options?: CallOptions): Promise<void>;
}

const isChatCompletion = (value: unknown): value is ChatCompletion => hasList(value, "choices");

export function createChatCompletions(transport: Transport): ChatCompletions {
  const create: ChatCompletions["create"] = createReply(
    transport,
    "/v1/chat/completions",
    isChatCompletion,
    (open) => new ChatStream(open),
  );
  return {
    create,
    stream: (body, options) => {
      const stream_options = { include_usage: true, ...body.stream_options };
      return create({ ...body, stream: true, stream_options }, options);
    },
    parse: async (body, schema, { signal, ...format } = {}) => {
      const completion = await create(
        { ...body, stream: false, response_format: jsonFormat(schema, format) },
        { signal },
      );
      return { value: await parseReply(completion, schema), completion };
    },
    endThinking: async (id, { signal } = {}) => {
      const body = { id, action: "reasoning_end" };
      const path = "/v1/chat/completions/control";
      await transport.json({ method: "POST", path, body, signal }, isRecord);
    },
  };
}
