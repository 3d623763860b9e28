// `client.serverControl`: starts and stops the app's `/v1` server, and manages its keys.
import type {
  NewServerKey,
  ServerControl,
  ServerKeyList,
  ServerKeyRequest,
  ServerSettingsChange,
} from "@ingle/protocol";

import { hasList, hasText, isRecord } from "./response-body.ts";
import { callsBelow } from "./api-calls.ts";
import type { WaitOptions } from "./library.ts";
import type { CallOptions, Transport } from "./transport.ts";

/** A server that was started by `ingle serve` only returns its state (`can_control` is false). */
export interface ServerControls {
  /** Whether the server runs, its address, and its settings. */
  get(options?: CallOptions): Promise<ServerControl>;
  /** Starts listening; resolves with the actual address. */
  start(options?: WaitOptions): Promise<ServerControl>;
  /** Waits for requests in flight and stops listening. */
  stop(options?: WaitOptions): Promise<ServerControl>;
  /** Changes the settings of a stopped server; missing ones stay the same. */
  change(settings: ServerSettingsChange, options?: CallOptions): Promise<ServerControl>;
  /** The list of keys, without the secrets. */
  keys(options?: CallOptions): Promise<ServerKeyList>;
  /** Creates a key. Only this response contains the secret. */
  createKey(key: ServerKeyRequest, options?: CallOptions): Promise<NewServerKey>;
  /** Revokes a key, from the next request on. Resolves with the remaining keys. */
  revokeKey(id: string, options?: CallOptions): Promise<ServerKeyList>;
}

const isControl = (value: unknown): value is ServerControl =>
  isRecord(value) && typeof value["can_control"] === "boolean";
const isKeyList = (value: unknown): value is ServerKeyList => hasList(value, "data");
const isNewKey = (value: unknown): value is NewServerKey => hasText(value, "key");

export function createServerControl(transport: Transport): ServerControls {
  const { get, post } = callsBelow(transport, "/api/v1/server");
  return {
    get: (options = {}) => get("", options, isControl),
    start: ({ wait, ...options } = {}) => post("/start", { wait }, options, isControl),
    stop: ({ wait, ...options } = {}) => post("/stop", { wait }, options, isControl),
    change: (settings, options = {}) => post("/settings", settings, options, isControl),
    keys: (options = {}) => get("/keys", options, isKeyList),
    createKey: (key, options = {}) => post("/keys", key, options, isNewKey),
    revokeKey: (id, options = {}) => post("/keys/revoke", { id }, options, isKeyList),
  };
}
