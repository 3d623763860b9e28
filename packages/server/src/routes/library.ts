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
import type { ZodTypeProvider } from "fastify-type-provider-zod";
import { dataEvent, doneEvent, sendEvents } from "../http/event-stream.ts";
import type { ModelLibrary, NamedModel } from "../models/library/model-library.ts";
import { takesMemory } from "../models/slot/model-state.ts";
import { toOfferedRepository, toRecommendedModel } from "../models/library/library-responses.ts";
import type { ModelRegistry } from "../models/registry.ts";
import type { Operation } from "../openapi/operation.ts";
import { WireError } from "../wire-error.ts";

const search: Operation = {
  summary: "Search the hub for models",
  answers: { 200: FoundRepositories },
  errors: ["not_found", "engine_failed"],
};
const describe: Operation = {
  summary: "List the models of a repository and the memory that they need",
  answers: { 200: OfferedRepository },
  errors: ["not_found", "model_not_found", "engine_failed"],
};
const recommended: Operation = {
  summary: "Recommend a model to start with",
  answers: { 200: RecommendedModel },
  errors: ["not_found", "model_not_found", "engine_failed"],
};
const pull: Operation = {
  summary: "Download a model, with progress events",
  answers: { 200: PullEvent },
  event: PullEvent,
  errors: ["not_found", "model_not_found", "out_of_memory", "engine_failed"],
  example: {},
};
const remove: Operation = {
  summary: "Remove a model that is not in memory",
  answers: { 200: RemovedModel },
  errors: ["not_found", "model_not_found", "engine_failed"],
  example: {},
};
const alias: Operation = {
  summary: "Add an alias to a model",
  answers: { 200: ModelAliases },
  errors: ["not_found", "model_not_found", "engine_failed"],
  example: { alias: "daily" },
};
const unalias: Operation = { ...alias, summary: "Remove an alias" };

export interface LibraryRouteOptions {
  registry: ModelRegistry;
  /** Absent: this server manages no library. */
  library: ModelLibrary | undefined;
  keepAliveMs: number;
}

/** Returns the library, or throws `not_found` if there is none. */
type GetLibrary = () => ModelLibrary;
type TypedApp = ReturnType<typeof withZod>;

/** The app with handlers typed by their schemas. */
function withZod(app: FastifyInstance) {
  return app.withTypeProvider<ZodTypeProvider>();
}

export async function libraryRoutes(app: FastifyInstance, options: LibraryRouteOptions): Promise<void> {
  const typed = withZod(app);
  const library = (): ModelLibrary => {
    if (options.library !== undefined) return options.library;
    throw new WireError("not_found", "This server has no model library.");
  };
  readRoutes(typed, library);
  managementRoutes(typed, library, options);
  aliasRoutes(typed, library, options);
}

function readRoutes(app: TypedApp, library: GetLibrary): void {
  app.get(
    "/api/v1/models/search",
    { schema: { querystring: SearchQuery }, config: { right: "management", operation: search } },
    async ({ query, clientSignal: signal }): Promise<FoundRepositories> => {
      const found = await library().search(query.q, { limit: query.limit, signal });
      const data = found.map(({ isGated, ...repository }) => ({ ...repository, gated: isGated }));
      return { object: "list", data };
    },
  );

  app.get(
    "/api/v1/models/describe",
    { schema: { querystring: DescribeQuery }, config: { right: "management", operation: describe } },
    async ({ query, clientSignal: signal }): Promise<OfferedRepository> =>
      toOfferedRepository(await library().describe(query.repo, { signal })),
  );

  app.get(
    "/api/v1/models/recommended",
    { config: { right: "management", operation: recommended } },
    async ({ clientSignal: signal }): Promise<RecommendedModel> =>
      toRecommendedModel(await library().recommended({ signal })),
  );
}

function managementRoutes(
  app: TypedApp,
  library: GetLibrary,
  { registry, keepAliveMs }: LibraryRouteOptions,
): void {
  app.post(
    "/api/v1/models/pull",
    { schema: { body: PullRequest }, config: { right: "management", operation: pull } },
    async (request, reply) => {
      const { model, stream = true } = request.body;
      const { clientSignal: signal } = request;
      const events = pullEvents((onProgress) => library().pull(model, { signal, onProgress }), registry);
      if (stream) return sendEvents(request, reply, asText(events), { keepAliveMs });
      return await lastOf(events);
    },
  );

  app.post(
    "/api/v1/models/remove",
    { schema: { body: RemoveRequest }, config: { right: "management", operation: remove } },
    async (request): Promise<RemovedModel> => {
      const { model } = request.body;
      const { id, state } = await registry.known(model);
      if (takesMemory(state) || state.kind === "preparing") {
        throw new WireError("invalid_request", `${id} is in memory; unload it first.`, { param: "model" });
      }
      const { freedBytes } = await library().remove(id, { signal: request.clientSignal });
      await registry.refresh({ isNeeded: true });
      return { id, removed: true, freed_bytes: freedBytes };
    },
  );
}

function aliasRoutes(app: TypedApp, library: GetLibrary, { registry }: LibraryRouteOptions): void {
  const aliasesOf = async ({ id, aliases }: NamedModel): Promise<ModelAliases> => {
    await registry.refresh({ isNeeded: true });
    return { id, aliases: [...aliases] };
  };

  app.post(
    "/api/v1/models/alias",
    { schema: { body: AliasRequest }, config: { right: "management", operation: alias } },
    async ({ body, clientSignal: signal }) =>
      await aliasesOf(await library().alias(body.alias, body.model, { signal })),
  );

  app.post(
    "/api/v1/models/unalias",
    { schema: { body: UnaliasRequest }, config: { right: "management", operation: unalias } },
    async ({ body, clientSignal: signal }) =>
      await aliasesOf(await library().unalias(body.alias, { signal })),
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

async function lastOf(events: AsyncIterable<PullEvent>): Promise<PullEvent | undefined> {
  let last: PullEvent | undefined;
  for await (const event of events) last = event;
  return last;
}
