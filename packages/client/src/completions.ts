// `client.completions`: the completion of a prompt, complete or as a stream.
import type { Completion, CompletionBody } from "@ingle/protocol";

import { hasList } from "./response-body.ts";
import { CompletionStream } from "./completion-stream.ts";
import { createReply } from "./calls.ts";
import type { CreateReply } from "./calls.ts";
import type { CallOptions, Transport } from "./transport.ts";

export interface Completions {
  /** A completion, complete or as a stream. */
  create: CreateReply<CompletionBody, Completion, CompletionStream>;
  /** `create` with `stream: true`, and with usage unless `stream_options` says otherwise. */
  stream(
    body: CompletionBody & { stream?: true | null | undefined },
    options?: CallOptions,
  ): Promise<CompletionStream>;
}

const isCompletion = (value: unknown): value is Completion => hasList(value, "choices");

export function createCompletions(transport: Transport): Completions {
  const create: Completions["create"] = createReply(
    transport,
    "/v1/completions",
    isCompletion,
    (open) => new CompletionStream(open),
  );
  return {
    create,
    stream: (body, options) => {
      const stream_options = { include_usage: true, ...body.stream_options };
      return create({ ...body, stream: true, stream_options }, options);
    },
  };
}
