// `client.serverControl`: the `/v1` server as the app starts and stops it, and its keys.
import type {
  NewServerKey,
  ServerControl,
  ServerKeyList,
  ServerKeyRequest,
  ServerSettingsChange,
} from "@ingle/protocol";

import { hasList, hasText, isRecord } from "./answer.ts";
import { callsBelow } from "./api-calls.ts";
import type { OrderOptions } from "./library.ts";
import type { CallOptions, Transport } from "./transport.ts";

/** The control of a server. One that `ingle serve` has started tells its state (`can_control` is false) and takes no orders. */
export interface ServerControls {
  /** Whether the server runs, where, and with which settings. */
  get(options?: CallOptions): Promise<ServerControl>;
  /** Starts to listen; resolves with the address that is really used. */
  start(options?: OrderOptions): Promise<ServerControl>;
  /** Lets running requests end and stops listening. */
  stop(options?: OrderOptions): Promise<ServerControl>;
  /** Changes the settings of a server that does not run; what is absent stays. */
  change(settings: ServerSettingsChange, options?: CallOptions): Promise<ServerControl>;
  /** The keys that are kept, without the keys themselves. */
  keys(options?: CallOptions): Promise<ServerKeyList>;
  /** Makes a key. Its answer is the only one that has it. */
  createKey(key: ServerKeyRequest, options?: CallOptions): Promise<NewServerKey>;
  /** Lets a key open nothing from the next request on. Resolves with the keys that are left. */
  revokeKey(id: string, options?: CallOptions): Promise<ServerKeyList>;
}

const isControl = (value: unknown): value is ServerControl =>
  isRecord(value) && typeof value["can_control"] === "boolean";
const isKeyList = (value: unknown): value is ServerKeyList => hasList(value, "data");
const isNewKey = (value: unknown): value is NewServerKey => hasText(value, "key");

/** Makes `client.serverControl`. */
export function createServerControl(transport: Transport): ServerControls {
  const { ask, order } = callsBelow(transport, "/api/v1/server");
  return {
    get: (options = {}) => ask("", options, isControl),
    start: ({ wait, ...options } = {}) => order("/start", { wait }, options, isControl),
    stop: ({ wait, ...options } = {}) => order("/stop", { wait }, options, isControl),
    change: (settings, options = {}) => order("/settings", settings, options, isControl),
    keys: (options = {}) => ask("/keys", options, isKeyList),
    createKey: (key, options = {}) => order("/keys", key, options, isNewKey),
    revokeKey: (id, options = {}) => order("/keys/revoke", { id }, options, isKeyList),
  };
}
