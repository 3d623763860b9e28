// Calls that several parts of the API share: `create` of the generating endpoints, whose body's `stream` decides whether it returns
// a stream; and GET, POST and PUT requests to the routes below one path of the management API.
import type { CallOptions, Transport, OpenStream } from "./transport.ts";

export interface CreateReply<Body extends Streamable, Whole, Stream> {
  /** Resolves when the reply starts. */
  (body: Body & { stream: true }, options?: CallOptions): Promise<Stream>;
  /** Resolves with the complete reply. */
  (body: Body & { stream?: false | null | undefined }, options?: CallOptions): Promise<Whole>;
  /** For a body whose `stream` is not known to the compiler. */
  (body: Body, options?: CallOptions): Promise<Whole | Stream>;
}

interface Streamable {
  stream?: boolean | null | undefined;
}

export function createReply<Body extends Streamable, Whole, Stream>(
  transport: Transport,
  path: string,
  isWhole: (body: unknown) => body is Whole,
  toStream: (open: OpenStream) => Stream,
): CreateReply<Body, Whole, Stream> {
  function create(body: Body & { stream: true }, options?: CallOptions): Promise<Stream>;
  function create(body: Body & { stream?: false | null | undefined }, options?: CallOptions): Promise<Whole>;
  function create(body: Body, options?: CallOptions): Promise<Whole | Stream>;
  async function create(body: Body, { signal }: CallOptions = {}): Promise<Whole | Stream> {
    const request = { method: "POST", path, body, signal } as const;
    if (body.stream === true) return toStream(await transport.stream(request));
    return await transport.json(request, isWhole);
  }
  return create;
}

type IsExpected<Body> = (value: unknown) => value is Body;

interface ApiCalls {
  get: <Body>(path: string, options: CallOptions, isExpected: IsExpected<Body>) => Promise<Body>;
  post: <Body>(
    path: string,
    body: object,
    options: CallOptions,
    isExpected: IsExpected<Body>,
  ) => Promise<Body>;
  put: ApiCalls["post"];
}

export function callsBelow(transport: Transport, root: string): ApiCalls {
  return {
    get: (path, { signal }, isExpected) =>
      transport.json({ method: "GET", path: root + path, signal }, isExpected),
    post: (path, body, { signal }, isExpected) =>
      transport.json({ method: "POST", path: root + path, body, signal }, isExpected),
    put: (path, body, { signal }, isExpected) =>
      transport.json({ method: "PUT", path: root + path, body, signal }, isExpected),
  };
}
