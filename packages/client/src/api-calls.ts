// The two forms that calls of the management API have: a question, and an order with a body. Used by the parts of the client
// that manage a server.
import type { CallOptions, Transport } from "./transport.ts";

type IsExpected<Answer> = (value: unknown) => value is Answer;

/** Calls of routes below one path. */
export interface ApiCalls {
  /** `GET`. */
  ask: <Answer>(path: string, options: CallOptions, isExpected: IsExpected<Answer>) => Promise<Answer>;
  /** `POST`. */
  order: <Answer>(
    path: string,
    body: object,
    options: CallOptions,
    isExpected: IsExpected<Answer>,
  ) => Promise<Answer>;
}

/** The calls of the routes below `root`. */
export function callsBelow(transport: Transport, root: string): ApiCalls {
  return {
    ask: (path, { signal }, isExpected) =>
      transport.json({ method: "GET", path: root + path, signal }, isExpected),
    order: (path, body, { signal }, isExpected) =>
      transport.json({ method: "POST", path: root + path, body, signal }, isExpected),
  };
}
