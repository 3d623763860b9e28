// /api/v1/server: starts and stops the app's `/v1` server and manages its keys. A server that `ingle serve` started shows its
// state and rejects commands.
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
const view: Operation = { summary: "Get the state and address of the /v1 server", answers };
const start: Operation = {
  summary: "Start the /v1 server",
  description: "If it cannot be started, the response has the status `failed` and the reason.",
  answers,
  example: {},
  namesNoModel: true,
};
const stop: Operation = {
  summary: "Stop the /v1 server once its requests have ended",
  answers,
  example: {},
  namesNoModel: true,
};
const settings: Operation = {
  summary: "Change the settings of the /v1 server",
  answers,
  example: { starts_with_app: false },
  namesNoModel: true,
};
const keys: Operation = {
  summary: "List the keys that the app created for the /v1 server",
  answers: { 200: ServerKeyList },
};
const create: Operation = {
  summary: "Create a key for the /v1 server",
  description: "Only this response contains the key.",
  answers: { 200: NewServerKey },
  example: { name: "editor", scope: "inference" },
  namesNoModel: true,
};
const revoke: Operation = {
  summary: "Revoke a key",
  answers: { 200: ServerKeyList },
  example: { id: "none" },
  namesNoModel: true,
};

export interface ServerControlOptions {
  view: ServerView;
  /** Absent for a server that the app did not start. */
  server: ControlledServer | undefined;
}

type TypedApp = ReturnType<typeof withZod>;

/** The app with handlers typed by their schemas. */
function withZod(app: FastifyInstance) {
  return app.withTypeProvider<ZodTypeProvider>();
}

export async function serverControlRoutes(
  app: FastifyInstance,
  { view: currentView, server }: ServerControlOptions,
): Promise<void> {
  const typed = withZod(app);
  const controlled = (): ControlledServer => {
    if (server !== undefined) return server;
    const message =
      "This server was not started by the app. Stop it and configure its keys where you started it.";
    throw new WireError("invalid_request", message);
  };
  typed.get("/api/v1/server", { config: { right: "management", operation: view } }, async () =>
    currentView(),
  );
  commandRoutes(typed, controlled);
  keyRoutes(typed, controlled, server);
}

function commandRoutes(app: TypedApp, controlled: () => ControlledServer): void {
  app.post(
    "/api/v1/server/start",
    { schema: { body: ServerActionRequest }, config: { right: "management", operation: start } },
    async ({ body: { wait = true } }): Promise<ServerControl> => {
      const server = controlled();
      await finishedOrStarted(server.start(), wait);
      return server.view();
    },
  );
  app.post(
    "/api/v1/server/stop",
    { schema: { body: ServerActionRequest }, config: { right: "management", operation: stop } },
    async ({ body: { wait = true } }): Promise<ServerControl> => {
      const server = controlled();
      await finishedOrStarted(server.stop(), wait);
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

/** Waits for the work to end. With `wait: false`, waits only long enough to report an immediate refusal. */
async function finishedOrStarted(work: Promise<void>, wait: boolean): Promise<void> {
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
