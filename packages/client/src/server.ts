// The server itself. `client.server` and `client.machine`: whether it is reachable and ready for requests, and the machine it runs
// on. `client.session`: the rights of its own web page, given by a cookie. `client.serverControl`: starts and stops the app's `/v1`
// server, and manages its keys.
import type {
  BrowserChallenge,
  BrowserKey,
  KnownBrowser,
  NewServerKey,
  ReturnRequest,
  ServerControl,
  ServerKeyList,
  ServerKeyRequest,
  ServerSettingsChange,
  Session,
  Liveness,
  Machine,
  Readiness,
} from "@ingle/protocol";
import { hasList, hasText, isRecord } from "./response-body.ts";
import type { WaitOptions } from "./library.ts";

import { callsBelow } from "./calls.ts";
import type { CallOptions, Transport } from "./transport.ts";

export interface ServerReadiness extends Readiness {
  /** Whether requests are accepted: true for `ok`, and for `idle`, which loads the model with the next request. */
  isReady: boolean;
}

/** These calls are not retried: if the server is not reachable, they reject with a `ConnectionError`. */
export interface ServerState {
  /** `GET /livez`: resolves if the process responds, whatever the state of its model. */
  livez(options?: CallOptions): Promise<Liveness>;
  /** `GET /readyz`: also resolves if the server is not ready. */
  readyz(options?: CallOptions): Promise<ServerReadiness>;
  /** `GET /health`: the same as `readyz`. */
  health(options?: CallOptions): Promise<ServerReadiness>;
}

const isReadiness = (value: unknown): value is Readiness => hasText(value, "status");
const isLiveness = (value: unknown): value is Liveness => isRecord(value) && value["status"] === "ok";

export function createServerState(transport: Transport): ServerState {
  const readiness = async (path: string, { signal }: CallOptions = {}): Promise<ServerReadiness> => {
    const state = await transport.json({ method: "GET", path, signal, isProbe: true }, isReadiness);
    return { ...state, isReady: state.status === "ok" || state.status === "idle" };
  };
  return {
    livez: ({ signal } = {}) =>
      transport.json({ method: "GET", path: "/livez", signal, isProbe: true }, isLiveness),
    readyz: (options) => readiness("/readyz", options),
    health: (options) => readiness("/health", options),
  };
}

export interface MachineState {
  /** Its processor, memory, disk and devices, with their current use. */
  get(options?: CallOptions): Promise<Machine>;
}

const isMachine = (value: unknown): value is Machine => hasList(value, "devices");

export function createMachine(transport: Transport): MachineState {
  const { get } = callsBelow(transport, "/api/v1/machine");
  return { get: (options = {}) => get("", options, isMachine) };
}

export interface Sessions {
  /** The page's current rights. */
  get(options?: CallOptions): Promise<Session>;
  /** Logs in with a key; the browser's cookie then carries its rights. Rejects an unknown key with code `unauthorized`. */
  begin(key: string, options?: CallOptions): Promise<Session>;
  /** Leaves a public key with the app; its owner may come back after a restart. Resolves with its id. */
  remember(key: BrowserKey, options?: CallOptions): Promise<KnownBrowser>;
  forget(browser: string, options?: CallOptions): Promise<KnownBrowser>;
  /** A text that a known browser signs to come back. */
  challenge(options?: CallOptions): Promise<BrowserChallenge>;
  /** Rejects with code `unauthorized` if the browser is not known. */
  comeBack(proof: ReturnRequest, options?: CallOptions): Promise<Session>;
}

const isSession = (value: unknown): value is Session => hasText(value, "right");
const isBrowser = (value: unknown): value is KnownBrowser => hasText(value, "browser");
const isChallenge = (value: unknown): value is BrowserChallenge => hasText(value, "challenge");

export function createSession(transport: Transport): Sessions {
  const { get, post } = callsBelow(transport, "/api/v1/session");
  return {
    get: (options = {}) => get("", options, isSession),
    begin: (key, options = {}) => post("", { key }, options, isSession),
    remember: ({ x, y }, options = {}) => post("/browser", { x, y }, options, isBrowser),
    forget: (browser, options = {}) => post("/forget", { browser }, options, isBrowser),
    challenge: (options = {}) => post("/challenge", {}, options, isChallenge),
    comeBack: (proof, options = {}) => post("/return", proof, options, isSession),
  };
}

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
