// A proxy between page and server. It forwards everything unchanged, records JSON requests, and can hold back a stream of events.
import { once } from "node:events";
import {
  createServer,
  request as send,
  type IncomingMessage,
  type Server,
  type ServerResponse,
} from "node:http";
import { pipeline } from "node:stream/promises";

export interface RecordedRequest {
  path: string;
  body: Readonly<Record<string, unknown>>;
  /** The status of the server's response. */
  status: number;
}

interface Hold {
  text: string;
  released: Promise<void>;
}

export class RecordingProxy implements AsyncDisposable {
  readonly #server: Server;
  readonly #target: URL;
  readonly #requests: RecordedRequest[] = [];
  #hold: Hold | undefined;

  private constructor(server: Server, target: URL) {
    this.#server = server;
    this.#target = target;
    server.on("request", (request: IncomingMessage, response: ServerResponse) => {
      // A page that leaves, or stops a reply, breaks the connection.
      this.#passOn(request, response).catch(() => response.destroy());
    });
  }

  /** Starts a proxy for the server at this address. */
  static async start(address: string): Promise<RecordingProxy> {
    const server = createServer().listen(0, "127.0.0.1");
    await once(server, "listening");
    return new RecordingProxy(server, new URL(address));
  }

  /** The address of the page through the proxy. */
  get address(): string {
    const bound = this.#server.address();
    if (bound === null || typeof bound === "string") throw new Error("the proxy is closed");
    return `http://127.0.0.1:${bound.port}${this.#target.pathname}${this.#target.search}`;
  }

  /** The completed requests with a JSON body to this path, the oldest first. */
  requestsTo(path: string): RecordedRequest[] {
    return this.#requests.filter((request) => request.path === path);
  }

  /** Holds back the first event with this text, and all after it, until the returned function is called. */
  holdAt(text: string): () => void {
    let release = (): void => {};
    const released = new Promise<void>((resolve) => {
      release = resolve;
    });
    this.#hold = { text, released };
    return release;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.closeAllConnections();
    this.#server.close();
    await once(this.#server, "close");
  }

  async #passOn(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { method, url: path = "/", headers } = request;
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    const body = Buffer.concat(chunks);
    const { hostname, port } = this.#target;
    // Keeps the Host header, which the server compares with the page's origin.
    const passed = send({ hostname, port, method, path, headers });
    response.once("close", () => passed.destroy());
    passed.end(body);
    const [answer]: IncomingMessage[] = await once(passed, "response");
    if (answer === undefined) throw new Error("no response came");
    if (body.length > 0 && headers["content-type"] === "application/json")
      this.#requests.push({ path, body: JSON.parse(body.toString()), status: answer.statusCode ?? 0 });
    response.writeHead(answer.statusCode ?? 502, answer.headers);
    response.flushHeaders();
    const isStream = answer.headers["content-type"]?.startsWith("text/event-stream") === true;
    await (isStream ? this.#passOnEvents(answer, response) : pipeline(answer, response));
  }

  async #passOnEvents(answer: IncomingMessage, response: ServerResponse): Promise<void> {
    answer.setEncoding("utf8");
    let rest = "";
    for await (const piece of answer) {
      const events = (rest + piece).split(/(?<=\n\n)/);
      rest = events.at(-1)?.endsWith("\n\n") === true ? "" : (events.pop() ?? "");
      for (const event of events) {
        if (this.#hold !== undefined && event.includes(this.#hold.text)) await this.#hold.released;
        response.write(event);
      }
    }
    response.end(rest);
  }
}
