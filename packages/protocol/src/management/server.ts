// The /v1 server that the app starts and stops under /api/v1/server, its keys, and the page's session. A server that `ingle serve`
// started reports its state here and cannot be stopped by a page.
import { z } from "zod";

import { integerField, stringField } from "../fields/bounded-field.ts";
import { flag } from "../fields/optional-field.ts";
import { modelField } from "../fields/request-fields.ts";

/** The most entries in a list of hosts, origins or models. */
export const namesMax = 64;
/** The most keys that the app keeps. */
export const keysMax = 100;
/** The most UTF-16 units of a key's name. */
export const keyNameLengthMax = 100;

const names = z.array(z.string().max(2048)).max(namesMax);

/** The settings of the server. */
export const ServerSettings = z
  .object({
    variant: z.enum(["desktop", "developer", "command-line", "serverless"]).meta({
      description:
        "Which models requests may name. The app offers desktop (listed models) and developer (any).",
    }),
    host: z
      .string()
      .max(255)
      .meta({ description: "127.0.0.1 for this machine only; 0.0.0.0 for others too." }),
    port: integerField("port", { min: 1, max: 65_535 }),
    allow_hosts: names.meta({ description: "Additional values of the Host header that the server accepts." }),
    allow_origins: names.meta({ description: "Web pages and apps that may use the server." }),
    parallel: z
      .int()
      .min(1)
      .max(256)
      .nullable()
      .meta({ description: "Replies at the same time; null: the engine's default." }),
    models: z.array(modelField).max(namesMax).meta({ description: "Models that are loaded at the start." }),
    starts_with_app: z.boolean(),
  })
  .meta({ id: "ServerSettings" });
export type ServerSettings = z.infer<typeof ServerSettings>;

/**
 * The body of `POST /api/v1/server/settings`: absent settings stay. While the server runs, only settings of its next start can
 * change: `models` and `starts_with_app`. Another variant has its own default port, which applies unless the port was changed.
 */
export const ServerSettingsChange = z
  .looseObject({ ...ServerSettings.partial().shape, variant: z.enum(["desktop", "developer"]).optional() })
  .meta({ id: "ServerSettingsChange" });
export type ServerSettingsChange = z.infer<typeof ServerSettingsChange>;

export const ServerStatus = z
  .enum(["stopped", "loading", "starting", "running", "stopping", "failed"])
  .meta({ id: "ServerStatus" });
export type ServerStatus = z.infer<typeof ServerStatus>;

/** The response of `GET /api/v1/server`, and of `POST …/start`, `…/stop` and `…/settings`. */
export const ServerControl = z
  .object({
    status: ServerStatus,
    can_control: z.boolean().meta({ description: "False if the server was started with `ingle serve`." }),
    url: z.string().nullable().meta({ description: "The actual address while it runs." }),
    moved_from_port: z
      .int()
      .nullable()
      .meta({ description: "The port that was in use, if another was chosen." }),
    needs_key: z.boolean(),
    open_requests: z.int().meta({ description: "Requests that stopping waits for." }),
    error: z.string().nullable().meta({ description: "Why it did not start." }),
    settings: ServerSettings,
  })
  .meta({ id: "ServerControl" });
export type ServerControl = z.infer<typeof ServerControl>;

/** The body of `POST /api/v1/server/start` and `…/stop`. With `wait: false`, the response does not wait until it is done. */
export const ServerActionRequest = z.looseObject({ wait: flag("wait") }).meta({ id: "ServerActionRequest" });
export type ServerActionRequest = z.infer<typeof ServerActionRequest>;

export const KeyScopeName = z.enum(["inference", "management"]).meta({ id: "KeyScopeName" });

/** A key of the app. Only its digest is stored, so it cannot be shown again. */
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

/** The response of `GET /api/v1/server/keys`. */
export const ServerKeyList = z
  .object({ object: z.literal("list"), data: z.array(ServerKey) })
  .meta({ id: "ServerKeyList" });
export type ServerKeyList = z.infer<typeof ServerKeyList>;

/** The body of `POST /api/v1/server/keys`. */
export const ServerKeyRequest = z
  .looseObject({
    name: stringField("name", { min: 1, max: keyNameLengthMax }),
    scope: KeyScopeName,
  })
  .meta({ id: "ServerKeyRequest" });
export type ServerKeyRequest = z.infer<typeof ServerKeyRequest>;

/** The response: only here is the key itself shown. */
export const NewServerKey = z.object({ ...ServerKey.shape, key: z.string() }).meta({ id: "NewServerKey" });
export type NewServerKey = z.infer<typeof NewServerKey>;

/** The body of `POST /api/v1/server/keys/revoke`. It applies from the next request on. The response is a `ServerKeyList`. */
export const RevokeKeyRequest = z
  .looseObject({ id: z.string().min(1).max(64) })
  .meta({ id: "RevokeKeyRequest" });
export type RevokeKeyRequest = z.infer<typeof RevokeKeyRequest>;

/** The body of `POST /api/v1/session`: exchanges a key for the page's cookie. */
export const SessionRequest = z
  .looseObject({ key: z.string().min(1).max(512) })
  .meta({ id: "SessionRequest" });
export type SessionRequest = z.infer<typeof SessionRequest>;

/** The response of `GET` and `POST /api/v1/session`: the page's rights. */
export const Session = z
  .object({ right: z.enum(["none", "inference", "management"]), is_app: z.boolean() })
  .meta({ id: "Session" });
export type Session = z.infer<typeof Session>;
