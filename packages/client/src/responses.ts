// `client.responses`: a reply to a text or to the items of a conversation, in one piece or as a stream of typed events.
import type { ResponsesAnswer, ResponsesBody } from "@ingle/protocol";

import { isRecord } from "./answer.ts";
import { createReplyOf } from "./create-reply.ts";
import type { CreateReply } from "./create-reply.ts";
import { ResponseStream } from "./response-stream.ts";
import type { CallOptions, Transport } from "./transport.ts";

/** The responses of a server, which keeps none of them: the whole conversation is sent each time. */
export interface Responses {
  /** A reply, whole or as a stream; `outputText()` gives the text of a whole one. */
  create: CreateReply<ResponsesBody, ResponsesAnswer, ResponseStream>;
  /** The same as `create` with `stream: true`. */
  stream(
    body: ResponsesBody & { stream?: true | null | undefined },
    options?: CallOptions,
  ): Promise<ResponseStream>;
}

function isResponse(value: unknown): value is ResponsesAnswer {
  return isRecord(value) && Array.isArray(value["output"]);
}

/** Makes `client.responses`. */
export function createResponses(transport: Transport): Responses {
  const create: Responses["create"] = createReplyOf(
    transport,
    "/v1/responses",
    isResponse,
    (open) => new ResponseStream(open),
  );
  return { create, stream: (body, options) => create({ ...body, stream: true }, options) };
}
