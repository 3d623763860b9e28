// The route of every protocol that generates text: it leases the model, reads images and documents, starts the generations, and sends the
// response, complete or as a stream. Each protocol defines the rest (protocol.ts).
import type { Generation, GenerationRequest, Model } from "@ingle/engine";
import type { FastifyInstance, FastifyRequest } from "fastify";
import { sendEvents } from "../http/event-stream.ts";
import type { ImageReading } from "../images/image-files.ts";
import { readContent } from "./read-content.ts";
import { defaultsFor, withDefaults } from "./sampling-defaults.ts";
import { startGenerations } from "./generations.ts";
import { imageReading, leaseModel, responseHead, type InferenceOptions } from "./inference.ts";
import type {
  GenerationBody,
  GenerationProtocol,
  Prompt,
  ProtocolResponse,
  RunningRequest,
} from "./protocol.ts";

/** A fastify plugin that adds the protocol's route. */
export function generationRoute<Body extends GenerationBody, Sent extends GenerationBody = Body>(
  protocol: GenerationProtocol<Body, Sent>,
) {
  const { path, body, operation, conventions, streaming, opening } = protocol;
  const route = {
    schema: { body },
    config: { right: "inference", isTracked: true, operation, ...conventions },
  } as const;

  return async (app: FastifyInstance, options: InferenceOptions): Promise<void> => {
    app.post(path, route, async (request, reply) => {
      const checked = completeBody(protocol, request);
      const other = await protocol.instead?.(checked, request, options);
      if (other !== undefined) return other;
      const starting = run(protocol, checked, request, options);
      starting.catch(() => {}); // with an opening, it is awaited only after the opening was sent
      if (!(checked.stream ?? streaming?.isDefault ?? false)) return protocol.respond(await starting).whole();
      const { events, errorEvents } =
        opening === undefined
          ? protocol.respond(await starting)
          : openedStream(opening.events(checked, options, starting), {
              errorEvents: opening.errorEvents,
              begin: async () => protocol.respond(await starting),
            });
      return sendEvents(request, reply, events(), {
        keepAliveMs: streaming === undefined ? options.keepAliveMs : undefined,
        contentType: streaming?.contentType,
        toErrorEvents: errorEvents,
      });
    });
  };
}

type Stream = Pick<ProtocolResponse, "events" | "errorEvents">;

/** The opening, then the events of the response, which `begin` waits for. */
function openedStream(
  opening: AsyncIterable<string>,
  { begin, errorEvents }: { begin: () => Promise<ProtocolResponse> } & Required<Pick<Stream, "errorEvents">>,
): Stream {
  let response: ProtocolResponse | undefined;
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
  protocol: GenerationProtocol<Body, Sent>,
  body: Body,
  request: FastifyRequest,
  options: InferenceOptions,
): Promise<RunningRequest<Body>> {
  const { prompts, repliesPerPrompt = 1, user, ignored = [], defaults } = protocol.toEngine(body);
  request.ignore(ignored);
  const places = prompts.length * repliesPerPrompt;
  const lease =
    (await protocol.lease?.(body, request, { ...options, places })) ??
    (await leaseModel(request, options, { model: body.model, places }));
  const leasedAt = performance.now();
  const { model } = lease;
  const head = responseHead(protocol.idPrefix, lease, options);
  const allDefaults = { ...defaults, ...defaultsFor(lease, options) };
  const requests = (await readPrompts(prompts, model, imageReading(request, options))).map((each) =>
    withDefaults(each, allDefaults),
  );
  const generations = startGenerations(request, lease, requests, {
    operation: protocol.tracedAs,
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

/** The body of a request to a route that has `protocol.body` as its schema. Throws what `complete` throws. */
function completeBody<Body extends GenerationBody, Sent extends GenerationBody>(
  { complete }: GenerationProtocol<Body, Sent>,
  request: FastifyRequest,
): Body {
  // oxlint-disable typescript/no-unsafe-type-assertion -- plugins/json-body.ts has checked it
  if (complete !== undefined) return complete(request.body as Sent, request);
  return request.body as Body; // `Sent` is `Body`
  // oxlint-enable typescript/no-unsafe-type-assertion
}

/** The prompts with their images and documents read, and with the model's own formatting. Throws what `readContent` throws. */
export async function readPrompts(
  prompts: readonly Prompt[],
  model: Model,
  reading: ImageReading,
): Promise<GenerationRequest[]> {
  const read: GenerationRequest[] = [];
  for (const prompt of prompts) read.push(await readPrompt(prompt, model, reading));
  return read;
}

async function readPrompt(prompt: Prompt, model: Model, reading: ImageReading): Promise<GenerationRequest> {
  if (typeof prompt === "function") return await prompt(model);
  return prompt.messages === undefined ? prompt : await readContent(prompt, model, reading);
}

function first(generations: readonly Generation[]): Generation {
  const [generation] = generations;
  if (generation === undefined) throw new Error("A protocol's request must have at least one prompt.");
  return generation;
}
