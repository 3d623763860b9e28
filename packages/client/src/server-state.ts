// `client.server` and `client.machine`: whether the server is reachable and ready for requests, and the machine it runs on.
import type { Liveness, Machine, Readiness } from "@ingle/protocol";

import { callsBelow } from "./api-calls.ts";
import { hasList, isRecord } from "./response-body.ts";
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

function isReadiness(value: unknown): value is Readiness {
  return isRecord(value) && typeof value["status"] === "string";
}

function isLiveness(value: unknown): value is Liveness {
  return isRecord(value) && value["status"] === "ok";
}

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
