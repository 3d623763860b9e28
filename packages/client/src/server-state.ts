// `client.server`: whether the server is there and takes requests.
import type { Liveness, Readiness } from "@ingle/protocol";

import { isRecord } from "./answer.ts";
import type { CallOptions, Transport } from "./transport.ts";

/** What a server says of its readiness. */
export interface ServerReadiness extends Readiness {
  /** Whether requests are taken: true for `ok` and for `idle`, whose model is loaded again by the next request. */
  isReady: boolean;
}

/** The state of a server. Each question is asked once: a server that is not there rejects with a `ConnectionError`. */
export interface ServerState {
  /** `GET /livez`: resolves when the process answers, whatever its model does. */
  livez(options?: CallOptions): Promise<Liveness>;
  /** `GET /readyz`: resolves for a server that is not ready too. */
  readyz(options?: CallOptions): Promise<ServerReadiness>;
  /** `GET /health`: another name of the same question. */
  health(options?: CallOptions): Promise<ServerReadiness>;
}

function isReadiness(value: unknown): value is Readiness {
  return isRecord(value) && typeof value["status"] === "string";
}

function isLiveness(value: unknown): value is Liveness {
  return isRecord(value) && value["status"] === "ok";
}

/** Makes `client.server`. */
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
