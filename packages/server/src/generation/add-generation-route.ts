// The way of every request that generates text: it leases the model, reads images and documents, starts the generations, and sends the
// response, complete or as a stream. Each route defines the rest (generation-route.ts). The generations are observed for the log line, the
// metrics and the traces, which see tokens when the engine produces them, however slowly the client reads.
import type { Generation, GenerationRequest, Model, GenerationResult } from "@ingle/engine";
import type { FastifyInstance, FastifyRequest } from "fastify";
import { sendEvents } from "../http/event-stream.ts";
import type { ImageReading } from "../content/image-files.ts";
import { readParts } from "../content/read-content.ts";
import { defaultsFor, withDefaults, withSystemPrompt } from "./sampling-defaults.ts";
import { imageReading, leaseModel, responseHead, type InferenceOptions } from "./inference.ts";
import type {
  GenerationBody,
  GenerationRoute,
  Prompt,
  GenerationResponse,
  RunningRequest,
} from "./generation-route.ts";
import type { GenerationNote } from "../http/request-outcome.ts";
import { variantId } from "../models/adapters.ts";
import type { Lease } from "../models/slot/slot-interface.ts";
import { toUsage } from "./usage.ts";

/** Adds the route to its API. */
export function addGenerationRoute<Body extends GenerationBody, Sent extends GenerationBody = Body>(
  app: FastifyInstance,
  route: GenerationRoute<Body, Sent>,
  options: InferenceOptions,
): void {
  const { path, body, operation, conventions, streaming, opening } = route;
  const config = { right: "inference", isTracked: true, operation, ...conventions } as const;
  app.post(path, { schema: { body }, config }, async (request, reply) => {
    const checked = completeBody(route, request);
    const other = await route.respondDirectly?.(checked, request, options);
    if (other !== undefined) return other;
    const starting = run(route, checked, request, options);
    starting.catch(() => {}); // with an opening, it is awaited only after the opening was sent
    if (!(checked.stream ?? streaming?.isDefault ?? false)) return route.respond(await starting).whole();
    const { events, errorEvents } =
      opening === undefined
        ? route.respond(await starting)
        : openedStream(opening.events(checked, options, starting), {
            errorEvents: opening.errorEvents,
            begin: async () => route.respond(await starting),
          });
    return sendEvents(request, reply, events(), {
      keepAliveMs: streaming === undefined ? options.keepAliveMs : undefined,
      contentType: streaming?.contentType,
      toErrorEvents: errorEvents,
    });
  });
}

type Stream = Pick<GenerationResponse, "events" | "errorEvents">;

/** The opening, then the events of the response, which `begin` waits for. */
function openedStream(
  opening: AsyncIterable<string>,
  {
    begin,
    errorEvents,
  }: { begin: () => Promise<GenerationResponse> } & Required<Pick<Stream, "errorEvents">>,
): Stream {
  let response: GenerationResponse | undefined;
  return {
    events: async function* () {
      yield* opening;
      response = await begin();
      yield* response.events();
    },
    errorEvents: (error) => (response?.errorEvents ?? errorEvents)(error),
  };
}

/** Starts the request's generations. Throws the reason if it cannot be started. */
async function run<Body extends GenerationBody, Sent extends GenerationBody>(
  route: GenerationRoute<Body, Sent>,
  body: Body,
  request: FastifyRequest,
  options: InferenceOptions,
): Promise<RunningRequest<Body>> {
  const { prompts, repliesPerPrompt = 1, user, ignored = [], defaults } = route.toEngine(body);
  request.ignore(ignored);
  const places = prompts.length * repliesPerPrompt;
  const lease =
    (await route.lease?.(body, request, { ...options, places })) ??
    (await leaseModel(request, options, { model: body.model, places }));
  const leasedAt = performance.now();
  const { model } = lease;
  const head = responseHead(route.idPrefix, lease, options);
  const allDefaults = { ...defaults, ...defaultsFor(lease, options) };
  const requests = (await readPrompts(prompts, lease, imageReading(request, options))).map((each) =>
    withDefaults(each, allDefaults),
  );
  const generations = startGenerations(request, lease, requests, {
    operation: route.tracedAs,
    responseId: head.id,
    repliesPerPrompt,
    user,
  });
  const { now, newId } = options;
  const { startedAt } = request.outcome;
  const generation = first(generations);
  const times = { startedAt, leasedAt, now };
  return { body, head, model, generations, generation, requests, request, newId, ...times };
}

/** The body of a request to a route that has `body` as its schema. Throws what `complete` throws. */
function completeBody<Body extends GenerationBody, Sent extends GenerationBody>(
  { complete }: GenerationRoute<Body, Sent>,
  request: FastifyRequest,
): Body {
  // oxlint-disable typescript/no-unsafe-type-assertion -- plugins/bodies.ts has checked it
  if (complete !== undefined) return complete(request.body as Sent, request);
  return request.body as Body; // `Sent` is `Body`
  // oxlint-enable typescript/no-unsafe-type-assertion
}

/**
 * The prompts with their images and documents read, with the model's own formatting, and with its system message. Throws what `readParts`
 * throws.
 */
export async function readPrompts(
  prompts: readonly Prompt[],
  lease: Pick<Lease, "model" | "defaults">,
  reading: ImageReading,
): Promise<GenerationRequest[]> {
  const read: GenerationRequest[] = [];
  for (const prompt of prompts)
    read.push(withSystemPrompt(await readPrompt(prompt, lease.model, reading), lease));
  return read;
}

async function readPrompt(prompt: Prompt, model: Model, reading: ImageReading): Promise<GenerationRequest> {
  if (typeof prompt === "function") return await prompt(model);
  return prompt.messages === undefined ? prompt : await readParts(prompt, model, reading);
}

function first(generations: readonly Generation[]): Generation {
  const [generation] = generations;
  if (generation === undefined) throw new Error("A request must have at least one prompt.");
  return generation;
}

interface StartOptions extends Pick<GenerationNote, "operation" | "responseId"> {
  repliesPerPrompt: number;
  /** The user that the client names. */
  user: string | undefined;
}

/**
 * Starts `repliesPerPrompt` generations for each of `prompts`, in order. They end when the client leaves, and when the first one
 * fails: a response is never sent in part.
 */
function startGenerations(
  request: FastifyRequest,
  { id, model, adapter, defaultAdapters }: Lease,
  given: readonly GenerationRequest[],
  { repliesPerPrompt, user, ...noted }: StartOptions,
): Generation[] {
  const client = request.clientKey(user);
  const prompts = given.map((prompt) =>
    withSalt(withAdapters(prompt, adapter === undefined ? defaultAdapters : [{ id: adapter }]), request),
  );
  const generations = prompts
    .flatMap((prompt) => repeated(prompt, repliesPerPrompt))
    .map((each) =>
      model.generate(each, { signal: request.clientSignal, client, priority: request.priority }),
    );
  const note: GenerationNote = { ...noted, sampling: prompts[0] ?? {}, startedAt: performance.now() };
  request.outcome.generation = note;
  request.tracked?.generates(generations, repliesPerPrompt);
  void cancelTogether(generations); // never rejects
  const adapters = usedAdapters(prompts[0], model).map((name) => variantId(id, name));
  void watchAll(request, generations, { note, modelId: id, repliesPerPrompt, adapters }); // never rejects
  return generations;
}

/** The adapter that the model's name has, or the model's default ones, unless the request weights adapters itself. */
function withAdapters(
  prompt: GenerationRequest,
  adapters: GenerationRequest["adapters"] = [],
): GenerationRequest {
  return adapters.length === 0 || (prompt.adapters ?? []).length > 0 ? prompt : { ...prompt, adapters };
}

/** What keeps the computed state of other keys from it, and its own from them. */
function withSalt(prompt: GenerationRequest, request: FastifyRequest): GenerationRequest {
  const cacheSalt = request.cacheSalt(prompt.cacheSalt);
  return cacheSalt === undefined ? prompt : { ...prompt, cacheSalt };
}

/** The names of the adapters that a request uses. */
function usedAdapters(prompt: GenerationRequest | undefined, { info }: Model): string[] {
  return (prompt?.adapters ?? [])
    .filter(({ scale }) => scale !== 0)
    .flatMap(({ id }) => (typeof id === "number" ? info.adapters.slice(id, id + 1) : [id]));
}

/** Each reply has its own seed, derived from the given one; -1 is a random one for each. */
function repeated(prompt: GenerationRequest, count: number): GenerationRequest[] {
  const { seed } = prompt;
  return Array.from({ length: count }, (_, index) =>
    seed === undefined || seed === -1 ? prompt : { ...prompt, seed: seedAt(index, seed) },
  );
}

/** Away from zero, so that none is -1, and back if there is no such integer. */
function seedAt(index: number, seed: number): number {
  const step = seed < 0 ? -index : index;
  return Number.isSafeInteger(seed + step) ? seed + step : seed - step;
}

/**
 * Breaking out of an iterator is not enough: it takes effect only with the next token, which may be minutes away in the queue.
 */
async function cancelTogether(generations: readonly Generation[]): Promise<void> {
  try {
    await Promise.all(generations);
  } catch (error) {
    for (const generation of generations) generation.cancel(error);
  }
}

interface Watched {
  note: GenerationNote;
  modelId: string;
  repliesPerPrompt: number;
  /** Ids. */
  adapters: readonly string[];
}

/** Never rejects: the response reports a failure to the client, the error handler to the log. */
async function watchAll(
  { outcome, server, tracked }: FastifyRequest,
  generations: readonly Generation[],
  { note, modelId, repliesPerPrompt, adapters }: Watched,
): Promise<void> {
  const watch = async (generation: Generation): Promise<GenerationResult> => {
    const meter = server.metrics.requests.meter(modelId);
    using uses = server.metrics.adapters.wait(adapters);
    let lastAt: number | undefined;
    for await (const { tokens, prompt } of generation) {
      if (prompt !== undefined) continue;
      const now = performance.now();
      if (lastAt === undefined) uses.run();
      if (lastAt === undefined) meter.firstToken((now - outcome.startedAt) / 1000);
      else meter.interToken((now - lastAt) / 1000 / Math.max(1, tokens));
      lastAt = now;
      tracked?.piece(tokens, now);
    }
    const result = await generation;
    meter.cached(result.usage.cachedTokens);
    server.requestBoard.countPrompt(result.usage);
    return result;
  };
  try {
    const results = await Promise.all(generations.map(watch));
    const { prompt_tokens, completion_tokens, prompt_tokens_details } = toUsage(results, repliesPerPrompt);
    outcome.promptTokens = prompt_tokens;
    outcome.cachedTokens = prompt_tokens_details.cached_tokens;
    outcome.completionTokens = completion_tokens;
    outcome.ttftMs = Math.round(
      Math.min(...results.map(({ timings }) => timings.queueMs + timings.promptMs)),
    );
    outcome.finishReason = results[0]?.finishReason;
  } catch {
    // Cancelled or failed: there is nothing to add up.
  } finally {
    note.endedAt = performance.now();
  }
}
