// The /v1 server that the app starts and stops under /api/v1/server, its keys, and the page's session. A server that `ingle serve`
// started reports its state here and cannot be stopped by a page.
import { z } from "zod";

import { errorCodeField } from "../errors.ts";
import { flag, integerField, requestObject, responseObject, stringField } from "../fields/field.ts";
import { modelField } from "../fields/request-fields.ts";

/** Maximum number of entries per list of hosts, origins or models. */
export const namesMax = 64;
/** Maximum number of keys that the app keeps. */
export const keysMax = 100;
/** Maximum length of a key's name, in UTF-16 units. */
export const keyNameLengthMax = 100;

const names = z.array(z.string().max(2048)).max(namesMax);

/** The settings of the server. */
export const ServerSettings = responseObject("ServerSettings", {
  variant: z
    .enum(["desktop", "developer", "command-line", "serverless"])
    .describe("Which models requests may name. The app offers desktop (listed models) and developer (any)."),
  host: z.string().max(255).describe("127.0.0.1 for this machine only; 0.0.0.0 for others too."),
  port: integerField("port", { min: 1, max: 65_535 }),
  allow_hosts: names.describe("Additional values of the Host header that the server accepts."),
  allow_origins: names.describe("Web pages and apps that may use the server."),
  parallel: z
    .int()
    .min(1)
    .max(256)
    .nullable()
    .describe("Replies at the same time; null: the engine's default."),
  models: z.array(modelField).max(namesMax).describe("Models that are loaded at the start."),
  starts_with_app: z.boolean(),
});
export type ServerSettings = z.infer<typeof ServerSettings>;

/**
 * The body of `POST /api/v1/server/settings`: absent settings stay the same. While the server runs, only settings of its next
 * start can change: `models` and `starts_with_app`. Another variant has its own default port, which applies unless the port was
 * changed.
 */
export const ServerSettingsChange = requestObject("ServerSettingsChange", {
  ...ServerSettings.partial().shape,
  variant: z.enum(["desktop", "developer"]).optional(),
});
export type ServerSettingsChange = z.infer<typeof ServerSettingsChange>;

export const ServerStatus = z
  .enum(["stopped", "loading", "starting", "running", "stopping", "failed"])
  .meta({ id: "ServerStatus" });
export type ServerStatus = z.infer<typeof ServerStatus>;

/** The response of `GET /api/v1/server`, and of `POST …/start`, `…/stop` and `…/settings`. */
export const ServerControl = responseObject("ServerControl", {
  status: ServerStatus,
  can_control: z.boolean().describe("False if the server was started with `ingle serve`."),
  url: z.string().nullable().describe("The actual address while it runs."),
  moved_from_port: z.int().nullable().describe("The port that was in use, if another was chosen."),
  needs_key: z.boolean(),
  open_requests: z.int().describe("Requests that stopping waits for."),
  error: z.string().nullable().describe("Why it did not start."),
  error_code: errorCodeField,
  settings: ServerSettings,
});
export type ServerControl = z.infer<typeof ServerControl>;

/** The body of `POST /api/v1/server/start` and `…/stop`. With `wait: false`, the response does not wait until it is done. */
export const ServerActionRequest = requestObject("ServerActionRequest", { wait: flag("wait") });
export type ServerActionRequest = z.infer<typeof ServerActionRequest>;

export const KeyScopeName = z.enum(["inference", "management"]).meta({ id: "KeyScopeName" });

const isoTime = z.iso
  .datetime({ offset: true, error: "must be a time such as 2027-01-31T00:00:00Z" })
  .describe("From then on it is refused. Absent: never.");

/** What a key may do. Absent: no limit. A limit of tokens counts those of prompts and of replies. */
export const KeyTerms = z.object({
  models: z
    .array(modelField)
    .min(1)
    .max(namesMax)
    .describe("Ids and aliases of the only models that it sees and uses; `*` stands for any characters.")
    .optional(),
  tokens_per_minute: z
    .int()
    .min(1)
    .describe(
      "Once it has used so many within a minute, its next requests are refused until the minute is over.",
    )
    .optional(),
  tokens_per_day: z.int().min(1).describe("The same, within 24 hours.").optional(),
  parallel_requests: z.int().min(1).describe("Requests at the same time.").optional(),
  priority: z
    .enum(["low", "normal", "high"])
    .describe("Requests of a higher priority are served first, whoever sends them. Default: normal.")
    .optional(),
  expires_at: isoTime.optional(),
});
export type KeyTerms = z.infer<typeof KeyTerms>;

/** What a key has used since the server started. */
export const KeyUsage = responseObject("KeyUsage", {
  requests: z.int(),
  prompt_tokens: z.int(),
  completion_tokens: z.int(),
});
export type KeyUsage = z.infer<typeof KeyUsage>;

/** A key of the app, or of a server's key file. Only its hash is stored, so it cannot be shown again. */
export const ServerKey = responseObject("ServerKey", {
  id: z.string(),
  name: z.string(),
  scope: KeyScopeName,
  ending: z.string().describe("Its last four characters."),
  created_at: z.int().describe("Unix seconds."),
  ...KeyTerms.shape,
  usage: KeyUsage,
});
export type ServerKey = z.infer<typeof ServerKey>;

/** The response of `GET /api/v1/server/keys`. */
export const ServerKeyList = responseObject("ServerKeyList", {
  object: z.literal("list"),
  data: z.array(ServerKey),
});
export type ServerKeyList = z.infer<typeof ServerKeyList>;

/** The body of `POST /api/v1/server/keys`. Unknown fields are refused: a limit with a typing error would limit nothing. */
export const ServerKeyRequest = z
  .strictObject({
    name: stringField("name", { min: 1, max: keyNameLengthMax }),
    scope: KeyScopeName,
    ...KeyTerms.shape,
  })
  .meta({ id: "ServerKeyRequest" });
export type ServerKeyRequest = z.infer<typeof ServerKeyRequest>;

/** The response: only here is the key itself shown. */
export const NewServerKey = responseObject("NewServerKey", { ...ServerKey.shape, key: z.string() });
export type NewServerKey = z.infer<typeof NewServerKey>;

/** The body of `POST /api/v1/server/keys/revoke`. It applies from the next request on. The response is a `ServerKeyList`. */
export const RevokeKeyRequest = requestObject("RevokeKeyRequest", { id: z.string().min(1).max(64) });
export type RevokeKeyRequest = z.infer<typeof RevokeKeyRequest>;

/** The body of `POST /api/v1/session`: exchanges a key for the page's cookie. */
export const SessionRequest = requestObject("SessionRequest", { key: z.string().min(1).max(512) });
export type SessionRequest = z.infer<typeof SessionRequest>;

/** The response of `GET` and `POST /api/v1/session`: the page's rights. */
export const Session = responseObject("Session", {
  right: z.enum(["none", "inference", "management"]),
  is_app: z.boolean(),
  keeps_chats: z
    .boolean()
    .describe("Whether this server keeps the page's chats; otherwise the browser does."),
});
export type Session = z.infer<typeof Session>;
