// A real HTTP server on 127.0.0.1 whose responses are scripted by each test, down to the single write.
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";

/** A received request. */
export interface SeenRequest {
  method: string | undefined;
  url: string | undefined;
  headers: IncomingMessage["headers"];
  body: string;
}

export interface MisbehavingServer extends AsyncDisposable {
  readonly url: string;
  readonly seen: SeenRequest[];
  /** Scripts the responses to the next requests, in order; the last script responds to all later ones. */
  respond(...scripts: Script[]): void;
}

export type Script = (response: ServerResponse, request: SeenRequest) => unknown;

export async function startServer(): Promise<MisbehavingServer> {
  const seen: SeenRequest[] = [];
  let scripts: Script[] = [];
  const respond = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    let body = "";
    for await (const bytes of request) body += String(bytes);
    const arrived = { method: request.method, url: request.url, headers: request.headers, body };
    seen.push(arrived);
    const script = scripts.length > 1 ? scripts.shift() : scripts[0];
    await script?.(response, arrived);
  };
  const server = createServer((request, response) => {
    void respond(request, response); // a script that throws fails its test by the missing response
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("the test server has no port");
  return {
    url: `http://127.0.0.1:${address.port}`,
    seen,
    respond(...next) {
      seen.length = 0;
      scripts = next;
    },
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** Responds with JSON. */
export function json(body: unknown, status = 200, headers: Record<string, string> = {}): Script {
  return (response) =>
    response.writeHead(status, { "content-type": "application/json", ...headers }).end(JSON.stringify(body));
}

/** Starts an event stream, writes each part separately, and ends it. */
export function events(...parts: (string | Uint8Array)[]): Script {
  return async (response) => {
    beginEvents(response);
    for (const part of parts) {
      response.write(part);
      await pause(1);
    }
    response.end();
  };
}

export function beginEvents(response: ServerResponse): void {
  response.writeHead(200, { "content-type": "text/event-stream; charset=utf-8", "x-request-id": "req-1" });
  response.flushHeaders();
}

/** Resolves when the other side closes the connection before the response is complete; rejects after two seconds. */
export function closedByClient(response: ServerResponse): Promise<void> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(new Error("the connection is still open")), 2_000);
    response.once("close", () => {
      clearTimeout(timer);
      if (response.writableFinished) reject(new Error("the whole response was sent"));
      else resolve();
    });
  });
}

export function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

/** One event of a streamed reply that adds `content`. */
export function chunkEvent(content: string | null): string {
  const chunk = {
    id: "chatcmpl-1",
    object: "chat.completion.chunk",
    created: 1,
    model: "tiny",
    system_fingerprint: "test",
    choices: [{ index: 0, delta: { content }, finish_reason: null }],
  };
  return `data: ${JSON.stringify(chunk)}\n\n`;
}
