// POST /v1/chat/completions: one chat request, streamed or not.
import { Readable } from "node:stream";
import type { Generation, GenerationResult } from "@ingle/engine";
import { ChatCompletionRequest } from "@ingle/protocol";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import type { ZodTypeProvider } from "fastify-type-provider-zod";
import { fingerprintOf, type AnswerHead } from "../chat/answer.ts";
import { eventStream } from "../chat/sse.ts";
import { toChunks } from "../chat/to-chunks.ts";
import { toCompletion } from "../chat/to-completion.ts";
import { toGenerationRequest, toNthRequest } from "../chat/to-generation.ts";
import type { Lease, ModelRegistry } from "../models/registry.ts";
import { errorJson } from "../plugins/errors.ts";
import { watchGenerations } from "../plugins/watch-generations.ts";
import type { VariantName } from "../variants.ts";

export interface ChatRouteOptions {
  registry: ModelRegistry;
  variant: VariantName;
  /** Longest silence of a stream before a comment is sent, in milliseconds. */
  keepAliveMs: number;
  now: () => Date;
  newId: () => string;
}

export async function chatRoutes(app: FastifyInstance, options: ChatRouteOptions): Promise<void> {
  const { registry, variant } = options;
  const schema = { body: ChatCompletionRequest };

  app.withTypeProvider<ZodTypeProvider>().post("/v1/chat/completions", { schema }, async (request, reply) => {
    const { body, clientSignal: signal } = request;
    signal.throwIfAborted();
    const count = body.n ?? 1;
    const lease = untilReplyEnds(
      request,
      await registry.acquire(body.model, variant, { signal, places: count }),
    );
    request.outcome.model = lease.id;

    const sampling = toGenerationRequest(body, variant);
    const client = request.clientKey(body.user);
    const generations = Array.from({ length: count }, (_, index) =>
      lease.model.generate(toNthRequest(sampling, index), { signal, client }),
    );
    const head = headOf(lease, options);
    // Never rejects: it only watches.
    void watchGenerations(request, generations, {
      operation: "chat",
      model: lease.id,
      responseId: head.id,
      sampling,
    });
    if (body.stream !== true) return toCompletion(head, await all(generations));

    const chunks = toChunks(head, generations, {
      includeUsage: body.stream_options?.include_usage ?? false,
      timingsPerToken: body.timings_per_token ?? false,
    });
    return sendEvents(request, reply, chunks, options.keepAliveMs);
  });
}

/** All results; the first failure ends the others. */
async function all(generations: readonly Generation[]): Promise<GenerationResult[]> {
  try {
    return await Promise.all(generations);
  } catch (error) {
    for (const generation of generations) generation.cancel();
    throw error;
  }
}

/** Held until the reply is out or its client gone. */
function untilReplyEnds<Held extends Disposable>({ atEnd }: FastifyRequest, held: Held): Held {
  atEnd(() => held[Symbol.dispose]());
  return held;
}

function headOf(lease: Lease, { now, newId }: ChatRouteOptions): AnswerHead {
  return {
    id: `chatcmpl-${newId()}`,
    created: Math.floor(now().getTime() / 1000),
    model: lease.id,
    system_fingerprint: fingerprintOf(lease.model),
  };
}

function sendEvents(
  request: FastifyRequest,
  reply: FastifyReply,
  chunks: AsyncIterable<string>,
  keepAliveMs: number,
): FastifyReply {
  const events = eventStream(chunks, { keepAliveMs, toErrorJson: (error) => errorJson(error, request) });
  return reply
    .header("content-type", "text/event-stream")
    .header("cache-control", "no-cache")
    .header("x-accel-buffering", "no") // nginx would hold the tokens back
    .send(Readable.from(events));
}
