// The model library of a running server: GET /api/v1/models/search, …/describe and …/recommended, POST /api/v1/models/pull with progress
// events, …/remove, …/alias and …/unalias.
import {
  AliasRequest,
  DescribeQuery,
  FoundRepositories,
  ModelAliases,
  OfferedRepository,
  PullEvent,
  PullRequest,
  RecommendedModel,
  RemovedModel,
  RemoveRequest,
  SearchQuery,
  UnaliasRequest,
} from "@ingle/protocol";
import type { LibraryProgress } from "@ingle/engine";
import type { FastifyInstance } from "fastify";
import { dataEvent, doneEvent, sendEvents } from "../../http/event-stream.ts";
import { noLibrary } from "../../models/model-errors.ts";
import type { ModelLibrary, NamedModel } from "../../models/library/model-library.ts";
import { takesMemory } from "../../models/slot/model-state.ts";
import { toOfferedRepository, toRecommendedModel } from "./library-responses.ts";
import type { ModelRegistry } from "../../models/registry.ts";
import { WireError } from "../../wire-error.ts";
import { addRoute, type Route } from "../../http/add-route.ts";

const search = {
  path: "GET /api/v1/models/search",
  right: "management",
  query: SearchQuery,
  summary: "Search the hub for models",
  responses: { 200: FoundRepositories },
  errors: ["not_found", "engine_failed"],
} satisfies Route;
const describe = {
  path: "GET /api/v1/models/describe",
  right: "management",
  query: DescribeQuery,
  summary: "List the models of a repository and the memory that they need",
  responses: { 200: OfferedRepository },
  errors: ["not_found", "model_not_found", "engine_failed"],
} satisfies Route;
const recommended = {
  path: "GET /api/v1/models/recommended",
  right: "management",
  summary: "Recommend a model to start with",
  responses: { 200: RecommendedModel },
  errors: ["not_found", "model_not_found", "engine_failed"],
} satisfies Route;
const pull = {
  path: "POST /api/v1/models/pull",
  right: "management",
  body: PullRequest,
  summary: "Download a model, with progress events",
  responses: { 200: PullEvent },
  event: PullEvent,
  errors: ["not_found", "model_not_found", "out_of_memory", "engine_failed"],
  example: {},
} satisfies Route;
const remove = {
  path: "POST /api/v1/models/remove",
  right: "management",
  body: RemoveRequest,
  summary: "Remove a model that is not in memory",
  responses: { 200: RemovedModel },
  errors: ["not_found", "model_not_found", "engine_failed"],
  example: {},
} satisfies Route;
const alias = {
  path: "POST /api/v1/models/alias",
  right: "management",
  body: AliasRequest,
  summary: "Add an alias to a model",
  responses: { 200: ModelAliases },
  errors: ["not_found", "model_not_found", "engine_failed"],
  example: { alias: "daily" },
} satisfies Route;
const unalias = {
  ...alias,
  path: "POST /api/v1/models/unalias",
  body: UnaliasRequest,
  summary: "Remove an alias",
} satisfies Route;

interface LibraryRouteOptions {
  registry: ModelRegistry;
  /** Absent: this server manages no library. */
  library: ModelLibrary | undefined;
  keepAliveMs: number;
}

export function addLibrary(app: FastifyInstance, options: LibraryRouteOptions): void {
  const { registry, keepAliveMs } = options;
  const library = (): ModelLibrary => {
    if (options.library !== undefined) return options.library;
    throw noLibrary();
  };
  const toModelAliases = async ({ id, aliases }: NamedModel): Promise<ModelAliases> => {
    await registry.refresh({ isNeeded: true });
    return { id, aliases: [...aliases] };
  };

  addRoute(app, search, async ({ query, clientSignal: signal }): Promise<FoundRepositories> => {
    const found = await library().search(query.q, { limit: query.limit, signal });
    const data = found.map(({ isGated, ...repository }) => ({ ...repository, gated: isGated }));
    return { object: "list", data };
  });
  addRoute(app, describe, async ({ query, clientSignal: signal }) =>
    toOfferedRepository(await library().describe(query.repo, { signal })),
  );
  addRoute(app, recommended, async ({ clientSignal: signal }) =>
    toRecommendedModel(await library().recommended({ signal })),
  );
  addRoute(app, pull, async (request, reply) => {
    const { model, stream = true } = request.body;
    const { clientSignal: signal } = request;
    const events = pullEvents((onProgress) => library().pull(model, { signal, onProgress }), registry);
    if (stream) return sendEvents(request, reply, asText(events), { keepAliveMs });
    return await readLast(events);
  });
  addRoute(app, remove, async ({ body, clientSignal: signal }): Promise<RemovedModel> => {
    const { id, state } = await registry.known(body.model);
    if (takesMemory(state) || state.kind === "preparing")
      throw new WireError("invalid_request", `${id} is in memory; unload it first.`, { param: "model" });
    const { freedBytes } = await library().remove(id, { signal });
    await registry.refresh({ isNeeded: true });
    return { id, removed: true, freed_bytes: freedBytes };
  });
  addRoute(app, alias, async ({ body, clientSignal: signal }) =>
    toModelAliases(await library().alias(body.alias, body.model, { signal })),
  );
  addRoute(app, unalias, async ({ body, clientSignal: signal }) =>
    toModelAliases(await library().unalias(body.alias, { signal })),
  );
}

type Pull = (onProgress: (id: string, progress: LibraryProgress) => void) => Promise<string>;

/** Yields the newest progress of the download, and `done` at the end. Skips reports that the client was too slow to read. */
async function* pullEvents(
  download: Pull,
  registry: ModelRegistry,
): AsyncGenerator<PullEvent, void, undefined> {
  let newest: PullEvent | undefined;
  let wake: () => void = () => {};
  const pulling = download((model, { phase, bytes, totalBytes }) => {
    newest = { status: phase, model, bytes, total_bytes: totalBytes };
    wake();
  });
  try {
    for (;;) {
      const news = new Promise<undefined>((resolve) => (wake = () => resolve(undefined)));
      if (newest !== undefined) {
        const event: PullEvent = newest;
        newest = undefined;
        yield event;
        continue;
      }
      const model = await Promise.race([pulling, news]);
      if (model === undefined) continue;
      await registry.refresh({ isNeeded: true });
      const bytes = registry.slots.find(({ id }) => id === model)?.entry.size_bytes ?? 0;
      return yield { status: "done", model, bytes, total_bytes: bytes };
    }
  } finally {
    pulling.catch(() => {}); // the client has disconnected
  }
}

async function* asText(events: AsyncIterable<PullEvent>): AsyncGenerator<string, void, undefined> {
  for await (const event of events) yield dataEvent(JSON.stringify(event));
  yield doneEvent;
}

async function readLast(events: AsyncIterable<PullEvent>): Promise<PullEvent | undefined> {
  let last: PullEvent | undefined;
  for await (const event of events) last = event;
  return last;
}
