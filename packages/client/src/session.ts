// `client.session`: what a web page of the server's own may do, by the cookie that its browser keeps.
import type { Session } from "@ingle/protocol";

import { hasText } from "./answer.ts";
import { callsBelow } from "./api-calls.ts";
import type { CallOptions, Transport } from "./transport.ts";

/** The session of a page. */
export interface Sessions {
  /** What the page may do now. */
  get(options?: CallOptions): Promise<Session>;
  /** Gives a key: from here on the browser's cookie stands for it. An unknown key rejects with code `unauthorized`. */
  begin(key: string, options?: CallOptions): Promise<Session>;
}

const isSession = (value: unknown): value is Session => hasText(value, "right");

/** Makes `client.session`. */
export function createSession(transport: Transport): Sessions {
  const { ask, order } = callsBelow(transport, "/api/v1/session");
  return {
    get: (options = {}) => ask("", options, isSession),
    begin: (key, options = {}) => order("", { key }, options, isSession),
  };
}
