// Responses of hubs and npm registries: their bodies are read piece by piece, within limits, and may be ranges of a file.

/** A response with an unread body. Hold it with `using`: leaving the block ends the request, read or not. */
export interface HttpResponse extends Disposable {
  status: number;
  header: (name: string) => string | undefined;
  /** Throws a TemporaryFailure when the connection breaks, or the signal's reason. */
  body: AsyncIterable<Buffer>;
}

/** The bytes of a file from an offset on. Hold it with `using`, like its response. */
export interface FileStream extends Disposable {
  /** The offset of the first byte: the requested one, or 0 if the server sends the whole file. */
  offset: number;
  /** Size of the whole file, if the server gives it. */
  totalBytes: number | undefined;
  body: AsyncIterable<Buffer>;
}

/** The stream of a response with status 200 or 206. */
export function fileStream(response: HttpResponse): FileStream {
  const range = /^bytes (\d+)-\d+\/(\d+|\*)$/.exec(response.header("content-range") ?? "");
  const isPartial = response.status === 206;
  const total = Number(isPartial ? range?.[2] : response.header("content-length"));
  return {
    offset: isPartial ? Number(range?.[1]) : 0,
    totalBytes: Number.isSafeInteger(total) ? total : undefined,
    body: response.body,
    [Symbol.dispose]: () => response[Symbol.dispose](),
  };
}

/** The chunks of a body. Throws the signal's reason, or `toFailure` of the error that ends them. */
export async function* readBody(
  chunks: AsyncIterable<Buffer | string>,
  signal: AbortSignal | undefined,
  toFailure: (error: unknown) => unknown,
): AsyncGenerator<Buffer> {
  try {
    for await (const chunk of chunks) yield typeof chunk === "string" ? Buffer.from(chunk) : chunk;
  } catch (error) {
    signal?.throwIfAborted();
    throw toFailure(error);
  }
}

/** Documents of large packages, and pages of a thousand files, are a few MiB. */
const documentBytesMax = 32 * 1024 * 1024;

/** The whole body as text; undefined if it is longer than any document of a hub or registry. */
export async function readDocument(body: AsyncIterable<Buffer>): Promise<string | undefined> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of body) {
    bytes += chunk.length;
    if (bytes > documentBytesMax) return undefined;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString("utf8");
}
