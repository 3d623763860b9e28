// The tokens of a request's prompts, without a reply.
import type { FastifyRequest } from "fastify";
import { readPrompts } from "./generation-route.ts";
import { imageReading, leaseModel, responseHead, type InferenceOptions } from "./inference.ts";
import type { GenerationBody, GenerationProtocol } from "./protocol.ts";

export interface PromptTokens {
  /** Of the request, as a response to it would have. */
  id: string;
  model: string;
  /** One array for each prompt. */
  tokens: Int32Array[];
}

/** One prompt at a time: each occupies a thread of the pool that all requests share. */
export async function promptTokens<Body extends GenerationBody, Sent extends GenerationBody>(
  protocol: GenerationProtocol<Body, Sent>,
  body: Body,
  request: FastifyRequest,
  options: InferenceOptions,
): Promise<PromptTokens> {
  const { prompts, ignored = [] } = protocol.toEngine(body);
  request.ignore(ignored);
  const lease = await leaseModel(request, options, { model: body.model });
  const { id, model } = responseHead(protocol.idPrefix, lease, options);
  const tokens: Int32Array[] = [];
  for (const prompt of await readPrompts(prompts, lease.model, imageReading(request, options)))
    tokens.push(await lease.model.promptTokens(prompt, { signal: request.clientSignal }));
  return { id, model, tokens };
}
