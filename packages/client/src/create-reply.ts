// One call for both forms of a reply: the body's `stream` decides. Used by the endpoints that generate.
import type { CallOptions, OpenStream, Transport } from "./transport.ts";

/** Asks for a reply. */
export interface CreateReply<Body extends Streamable, Whole, Stream> {
  /** Resolves when the reply begins; the stream gives it as it grows. */
  (body: Body & { stream: true }, options?: CallOptions): Promise<Stream>;
  /** Resolves with the whole reply. */
  (body: Body & { stream?: false | null | undefined }, options?: CallOptions): Promise<Whole>;
  /** For a body whose form is not known beforehand. */
  (body: Body, options?: CallOptions): Promise<Whole | Stream>;
}

interface Streamable {
  stream?: boolean | null | undefined;
}

/** Makes the call for one endpoint. */
export function createReplyOf<Body extends Streamable, Whole, Stream>(
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
