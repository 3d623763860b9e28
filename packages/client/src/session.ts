// `client.session`: the rights of the server's own web page, given by a cookie.
import type { Session } from "@ingle/protocol";

import { hasText } from "./response-body.ts";
import { callsBelow } from "./api-calls.ts";
import type { CallOptions, Transport } from "./transport.ts";

export interface Sessions {
  /** The page's current rights. */
  get(options?: CallOptions): Promise<Session>;
  /** Logs in with a key; the browser's cookie then carries its rights. Rejects an unknown key with code `unauthorized`. */
  begin(key: string, options?: CallOptions): Promise<Session>;
}

const isSession = (value: unknown): value is Session => hasText(value, "right");

export function createSession(transport: Transport): Sessions {
  const { get, post } = callsBelow(transport, "/api/v1/session");
  return {
    get: (options = {}) => get("", options, isSession),
    begin: (key, options = {}) => post("", { key }, options, isSession),
  };
}
