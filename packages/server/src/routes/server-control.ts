// The `/v1` server as the app starts and stops it, and its keys: /api/v1/server. One that `ingle serve` has started tells how it
// is and takes no orders.
import {
  NewServerKey,
  ServerControl,
  ServerKeyList,
  RevokeKeyRequest,
  ServerKeyRequest,
  ServerActionRequest,
  ServerSettingsChange,
} from "@ingle/protocol";
import type { FastifyInstance } from "fastify";
import type { ZodTypeProvider } from "fastify-type-provider-zod";
import type { ControlledServer } from "../control/controlled-server.ts";
import type { ServerView } from "../control/server-view.ts";
import type { Operation } from "../openapi/operation.ts";
import { WireError } from "../wire-error.ts";

const answers = { 200: ServerControl };
const view: Operation = { summary: "Whether the /v1 server runs, and where", answers };
const start: Operation = {
  summary: "Start the /v1 server",
  description: "One that cannot be started answers with status `failed` and the reason.",
  answers,
  example: {},
  namesNoModel: true,
};
const stop: Operation = {
  summary: "Stop the /v1 server, once its requests are done",
  answers,
  example: {},
  namesNoModel: true,
};
const settings: Operation = {
  summary: "Change what the /v1 server is started with",
  answers,
  example: { starts_with_app: false },
  namesNoModel: true,
};
const keys: Operation = {
  summary: "The keys that the app has made for the /v1 server",
  answers: { 200: ServerKeyList },
};
const create: Operation = {
  summary: "Make a key for the /v1 server",
  description: "The answer is the only one that holds it.",
  answers: { 200: NewServerKey },
  example: { name: "editor", scope: "inference" },
  namesNoModel: true,
};
const revoke: Operation = {
  summary: "Let a key open nothing any more",
  answers: { 200: ServerKeyList },
  example: { id: "none" },
  namesNoModel: true,
};

export interface ServerControlOptions {
  view: ServerView;
  /** Absent where nobody but whoever has started the server stops it. */
  server: ControlledServer | undefined;
}

type TypedApp = ReturnType<typeof withZod>;

/** The app whose handlers know what the schemas have checked. */
function withZod(app: FastifyInstance) {
  return app.withTypeProvider<ZodTypeProvider>();
}

export async function serverControlRoutes(
  app: FastifyInstance,
  { view: tell, server }: ServerControlOptions,
): Promise<void> {
  const typed = withZod(app);
  const controlled = (): ControlledServer => {
    if (server !== undefined) return server;
    const message =
      "This server was not started by the app: whoever started it stops it, and gives it its keys.";
    throw new WireError("invalid_request", message);
  };
  typed.get("/api/v1/server", { config: { right: "management", operation: view } }, async () => tell());
  orders(typed, controlled);
  keyRoutes(typed, controlled, server);
}

function orders(app: TypedApp, controlled: () => ControlledServer): void {
  app.post(
    "/api/v1/server/start",
    { schema: { body: ServerActionRequest }, config: { right: "management", operation: start } },
    async ({ body: { wait = true } }): Promise<ServerControl> => {
      const server = controlled();
      await orSoon(server.start(), wait);
      return server.view();
    },
  );
  app.post(
    "/api/v1/server/stop",
    { schema: { body: ServerActionRequest }, config: { right: "management", operation: stop } },
    async ({ body: { wait = true } }): Promise<ServerControl> => {
      const server = controlled();
      await orSoon(server.stop(), wait);
      return server.view();
    },
  );
  app.post(
    "/api/v1/server/settings",
    { schema: { body: ServerSettingsChange }, config: { right: "management", operation: settings } },
    async ({ body }): Promise<ServerControl> => {
      const server = controlled();
      await server.change(body);
      return server.view();
    },
  );
}

/** Waits for work whose outcome the state tells; with `wait: false` only for a refusal, which comes at once. */
async function orSoon(work: Promise<void>, wait: boolean): Promise<void> {
  if (wait) return await work;
  await Promise.race([work, new Promise((resolve) => setImmediate(resolve))]);
}

function keyRoutes(
  app: TypedApp,
  controlled: () => ControlledServer,
  server: ControlledServer | undefined,
): void {
  const list = (): ServerKeyList => ({ object: "list", data: server?.keys.list() ?? [] });

  app.get("/api/v1/server/keys", { config: { right: "management", operation: keys } }, async () => list());
  app.post(
    "/api/v1/server/keys",
    { schema: { body: ServerKeyRequest }, config: { right: "management", operation: create } },
    async ({ body: { name, scope } }, reply): Promise<NewServerKey> => {
      reply.header("cache-control", "no-store");
      return await controlled().keys.create({ name, scope });
    },
  );
  app.post(
    "/api/v1/server/keys/revoke",
    { schema: { body: RevokeKeyRequest }, config: { right: "management", operation: revoke } },
    async ({ body: { id } }): Promise<ServerKeyList> => {
      await controlled().keys.revoke(id);
      return list();
    },
  );
}
