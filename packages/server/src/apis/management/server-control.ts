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
import type { KeyRing } from "../../access/keys.ts";
import type { ControlledServer } from "../../control/controlled-server.ts";
import { shownKey } from "../../control/kept-keys.ts";
import type { ServerView } from "../../control/server-view.ts";
import type { KeyMeters } from "../../access/key-usage.ts";
import { WireError } from "../../wire-error.ts";
import { addRoute, type Route } from "../../http/add-route.ts";

const state = { right: "management", responses: { 200: ServerControl } } satisfies Partial<Route>;
const command = { ...state, body: ServerActionRequest, example: {}, namesNoModel: true } as const;
const key = { right: "management", namesNoModel: true } as const;

const show = {
  ...state,
  path: "GET /api/v1/server",
  summary: "Get the state and address of the /v1 server",
} satisfies Route;
const start = {
  ...command,
  path: "POST /api/v1/server/start",
  summary: "Start the /v1 server",
  description: "If it cannot be started, the response has the status `failed` and the reason.",
} satisfies Route;
const stop = {
  ...command,
  path: "POST /api/v1/server/stop",
  summary: "Stop the /v1 server once its requests have ended",
} satisfies Route;
const settings = {
  ...command,
  path: "POST /api/v1/server/settings",
  body: ServerSettingsChange,
  summary: "Change the settings of the /v1 server",
  example: { starts_with_app: false },
} satisfies Route;
const keys = {
  path: "GET /api/v1/server/keys",
  right: "management",
  summary: "List the keys that have a name, their limits and what they have used",
  responses: { 200: ServerKeyList },
} satisfies Route;
const create = {
  ...key,
  path: "POST /api/v1/server/keys",
  body: ServerKeyRequest,
  summary: "Create a key for the /v1 server",
  description: "Only this response contains the key.",
  responses: { 200: NewServerKey },
  example: { name: "editor", scope: "inference" },
} satisfies Route;
const revoke = {
  ...key,
  path: "POST /api/v1/server/keys/revoke",
  body: RevokeKeyRequest,
  summary: "Revoke a key",
  responses: { 200: ServerKeyList },
  example: { id: "none" },
} satisfies Route;

interface ServerControlOptions {
  view: ServerView;
  /** Absent for a server that the app did not start. */
  server: ControlledServer | undefined;
  /** The keys of that one. */
  ring: KeyRing;
  meters: KeyMeters;
}

export function addServerControl(
  app: FastifyInstance,
  { view, server, ring, meters }: ServerControlOptions,
): void {
  const controlled = (): ControlledServer => {
    if (server !== undefined) return server;
    const message =
      "This server was not started by the app. Stop it and configure its keys where you started it.";
    throw new WireError("invalid_request", message);
  };
  const listKeys = (): ServerKeyList => ({
    object: "list",
    data: server?.keys.list(meters) ?? ring.entries.map((entry) => shownKey(entry, meters)),
  });

  addRoute(app, show, async () => view());
  addRoute(app, start, async ({ body: { wait = true } }) => {
    await finishedOrStarted(controlled().start(), wait);
    return controlled().view();
  });
  addRoute(app, stop, async ({ body: { wait = true } }) => {
    await finishedOrStarted(controlled().stop(), wait);
    return controlled().view();
  });
  addRoute(app, settings, async ({ body }) => {
    await controlled().change(body);
    return controlled().view();
  });
  addRoute(app, keys, async () => listKeys());
  addRoute(app, create, async ({ body }, reply) => {
    reply.header("cache-control", "no-store");
    return await controlled().keys.create(body);
  });
  addRoute(app, revoke, async ({ body }) => {
    await controlled().keys.revoke(body.id);
    return listKeys();
  });
}

/** Waits for the work to end. With `wait: false`, waits only long enough to report an immediate refusal. */
async function finishedOrStarted(work: Promise<void>, wait: boolean): Promise<void> {
  if (wait) return await work;
  await Promise.race([work, new Promise((resolve) => setImmediate(resolve))]);
}
