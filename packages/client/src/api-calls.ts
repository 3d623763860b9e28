// GET and POST requests to the routes below one path of the management API.
import type { CallOptions, Transport } from "./transport.ts";

type IsExpected<Body> = (value: unknown) => value is Body;

export interface ApiCalls {
  get: <Body>(path: string, options: CallOptions, isExpected: IsExpected<Body>) => Promise<Body>;
  post: <Body>(
    path: string,
    body: object,
    options: CallOptions,
    isExpected: IsExpected<Body>,
  ) => Promise<Body>;
}

export function callsBelow(transport: Transport, root: string): ApiCalls {
  return {
    get: (path, { signal }, isExpected) =>
      transport.json({ method: "GET", path: root + path, signal }, isExpected),
    post: (path, body, { signal }, isExpected) =>
      transport.json({ method: "POST", path: root + path, body, signal }, isExpected),
  };
}
