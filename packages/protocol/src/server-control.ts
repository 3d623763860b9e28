// The `/v1` server as the app starts and stops it: /api/v1/server. A server that `ingle serve` started tells its state here
// and cannot be stopped by a page.
import { z } from "zod";
import { flag, modelField } from "./request-fields.ts";

/** Most names in a list of hosts, origins or models. */
export const namesMax = 64;
/** Most keys that the app keeps. */
export const keysMax = 100;
/** Most UTF-16 units of a key's name. */
export const keyNameLengthMax = 100;

const portRule = "port must be a whole number from 1 to 65,535";
const nameRule = `name must be a string of 1 to ${keyNameLengthMax} characters`;
const names = z.array(z.string().max(2048)).max(namesMax);

/** What the server is started with. */
export const ServerSettings = z
  .object({
    variant: z.enum(["desktop", "developer", "command-line", "serverless"]).meta({
      description: "Which ids requests may name. The app offers desktop (listed ones) and developer (any).",
    }),
    host: z
      .string()
      .max(255)
      .meta({ description: "127.0.0.1 for this machine alone; 0.0.0.0 for others, too." }),
    port: z.int(portRule).min(1, portRule).max(65_535, portRule),
    allow_hosts: names.meta({ description: "Further names by which it may be asked." }),
    allow_origins: names.meta({ description: "Web pages and apps that may use it." }),
    parallel: z
      .int()
      .min(1)
      .max(256)
      .nullable()
      .meta({ description: "Replies at once; null: the engine's choice." }),
    models: z.array(modelField).max(namesMax).meta({ description: "Loaded when it starts." }),
    starts_with_app: z.boolean(),
  })
  .meta({ id: "ServerSettings" });
export type ServerSettings = z.infer<typeof ServerSettings>;

/**
 * The body of `POST /api/v1/server/settings`: what is absent stays. While the server runs, only what its next start reads can
 * be changed: `models` and `starts_with_app`. Another variant brings its own port along, unless the port was changed before.
 */
export const ServerSettingsChange = z
  .looseObject({ ...ServerSettings.partial().shape, variant: z.enum(["desktop", "developer"]).optional() })
  .meta({ id: "ServerSettingsChange" });
export type ServerSettingsChange = z.infer<typeof ServerSettingsChange>;

export const ServerStatus = z
  .enum(["stopped", "loading", "starting", "running", "stopping", "failed"])
  .meta({ id: "ServerStatus" });
export type ServerStatus = z.infer<typeof ServerStatus>;

/** The answer of `GET /api/v1/server`, and of the orders `…/start`, `…/stop` and `…/settings`. */
export const ServerControl = z
  .object({
    status: ServerStatus,
    can_control: z.boolean().meta({ description: "False: whoever started `ingle serve` stops it." }),
    url: z.string().nullable().meta({ description: "The address that is really used, while it runs." }),
    moved_from_port: z.int().nullable().meta({ description: "This port was taken." }),
    needs_key: z.boolean(),
    open_requests: z.int().meta({ description: "What stopping waits for." }),
    error: z.string().nullable().meta({ description: "Why it could not start." }),
    settings: ServerSettings,
  })
  .meta({ id: "ServerControl" });
export type ServerControl = z.infer<typeof ServerControl>;

/** The body of `POST /api/v1/server/start` and `…/stop`. With `wait: false` the answer comes before it is done. */
export const ServerActionRequest = z.looseObject({ wait: flag("wait") }).meta({ id: "ServerActionRequest" });
export type ServerActionRequest = z.infer<typeof ServerActionRequest>;

export const KeyScopeName = z.enum(["inference", "management"]).meta({ id: "KeyScopeName" });

/** A key that the app keeps, as a digest: it cannot be shown again. */
export const ServerKey = z
  .object({
    id: z.string(),
    name: z.string(),
    scope: KeyScopeName,
    ending: z.string().meta({ description: "Its last four characters." }),
    created_at: z.int().meta({ description: "Unix seconds." }),
  })
  .meta({ id: "ServerKey" });
export type ServerKey = z.infer<typeof ServerKey>;

/** The answer of `GET /api/v1/server/keys`. */
export const ServerKeyList = z
  .object({ object: z.literal("list"), data: z.array(ServerKey) })
  .meta({ id: "ServerKeyList" });
export type ServerKeyList = z.infer<typeof ServerKeyList>;

/** The body of `POST /api/v1/server/keys`. */
export const ServerKeyRequest = z
  .looseObject({
    name: z.string(nameRule).min(1, nameRule).max(keyNameLengthMax, nameRule),
    scope: KeyScopeName,
  })
  .meta({ id: "ServerKeyRequest" });
export type ServerKeyRequest = z.infer<typeof ServerKeyRequest>;

/** Its answer: the only time that the key is told. */
export const NewServerKey = z.object({ ...ServerKey.shape, key: z.string() }).meta({ id: "NewServerKey" });
export type NewServerKey = z.infer<typeof NewServerKey>;

/** The body of `POST /api/v1/server/keys/revoke`; it holds from the next request on. The answer is a `ServerKeyList`. */
export const RevokeKeyRequest = z
  .looseObject({ id: z.string().min(1).max(64) })
  .meta({ id: "RevokeKeyRequest" });
export type RevokeKeyRequest = z.infer<typeof RevokeKeyRequest>;

/** The body of `POST /api/v1/session`: a key becomes the page's cookie. */
export const SessionRequest = z
  .looseObject({ key: z.string().min(1).max(512) })
  .meta({ id: "SessionRequest" });
export type SessionRequest = z.infer<typeof SessionRequest>;

/** The answer of `GET` and `POST /api/v1/session`: what the page may do. */
export const Session = z
  .object({ right: z.enum(["none", "inference", "management"]), is_app: z.boolean() })
  .meta({ id: "Session" });
export type Session = z.infer<typeof Session>;
