// POST /v1/completions: replies to one text or several, streamed or not.
import { Completion, CompletionChunk, CompletionRequest, promptsOf } from "@ingle/protocol";
import type { FastifyInstance } from "fastify";
import type { ZodTypeProvider } from "fastify-type-provider-zod";
import {
  responseFields,
  leaseModel,
  repeated,
  startGenerations,
  type InferenceOptions,
} from "../generations.ts";
import { fieldNames } from "../engine-fields.ts";
import { sendEvents } from "../../http/send-events.ts";
import { toStreamOptions } from "../stream-options.ts";
import { promptText } from "./prompt-text.ts";
import { toChunks } from "./to-chunks.ts";
import { toCompletion } from "./response.ts";
import { toCommon } from "./request.ts";
import { generationErrors, type Operation } from "../../openapi/operation.ts";

const operation: Operation = {
  summary: "Replies to one text or several, whole or streamed",
  answers: { 200: Completion },
  event: CompletionChunk,
  errors: generationErrors,
  example: { prompt: "The capital of France is", max_tokens: 8 },
};

export async function completionRoutes(app: FastifyInstance, options: InferenceOptions): Promise<void> {
  const route = {
    schema: { body: CompletionRequest },
    config: { right: "inference", fieldNames, isTracked: true, operation },
  } as const;

  app.withTypeProvider<ZodTypeProvider>().post("/v1/completions", route, async (request, reply) => {
    const { body } = request;
    const { n: repliesPerPrompt = 1 } = body;
    const prompts = promptsOf(body.prompt);
    const common = toCommon(body, options.variant);
    const lease = await leaseModel(request, options, {
      model: body.model,
      places: prompts.length * repliesPerPrompt,
    });
    const head = responseFields("cmpl", lease, options);
    const requests = prompts.flatMap((prompt) => repeated({ ...common, prompt }, repliesPerPrompt));
    const generations = startGenerations(request, lease, requests, {
      operation: "text_completion",
      responseId: head.id,
      sampling: common,
      repliesPerPrompt,
      user: body.user,
    });
    const openingOf = async (index: number): Promise<string> => {
      const prompt = prompts[Math.floor(index / repliesPerPrompt)];
      return body.echo === true && prompt !== undefined ? promptText(prompt, lease.model) : "";
    };
    if (body.stream !== true) {
      return toCompletion(head, await Promise.all(generations), { repliesPerPrompt, openingOf });
    }
    const chunks = toChunks(head, generations, {
      repliesPerPrompt,
      openingOf,
      ...toStreamOptions(body),
    });
    return sendEvents(request, reply, chunks, options);
  });
}
