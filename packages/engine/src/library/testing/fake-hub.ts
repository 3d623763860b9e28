// A model hub on 127.0.0.1 that can misbehave: an API, redirects to a second host (another port) for the bytes, and checksums
// in the headers.
import { once } from "node:events";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { createHash } from "node:crypto";
import type { AddressInfo } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";

export interface FakeRepository {
  /** `org/repo`. */
  repo: string;
  files: Record<string, Buffer>;
  /** Requires a token for everything but the API's listing. */
  isGated?: boolean;
  /** Not found without a token. */
  isPrivate?: boolean;
  tags?: string[];
  /** False sizes for the list of files, by path: for models that are too large for a test. */
  announcedBytes?: Record<string, number>;
}

/** A file of which only the first bytes are sent until it is released. */
interface Hold {
  bytes: number;
  released: Promise<void>;
}

/** Handles a request; returns false to leave it to the hub. */
export type Intercept = (request: IncomingMessage, response: ServerResponse) => boolean;

const commit = "0123456789abcdef0123456789abcdef01234567";
/** The token with access to everything. */
export const goodToken = "hf_good";

export class FakeHub implements AsyncDisposable {
  readonly requests: IncomingMessage[] = [];
  /** The requests for the bytes of files, at the other host. */
  readonly byteRequests: IncomingMessage[] = [];
  /** Each response with bytes is cut off after this many of them. */
  cutAfterBytes = Number.POSITIVE_INFINITY;
  /** How many responses are cut off. */
  cutsLeft = Number.POSITIVE_INFINITY;
  hasRanges = true;
  /** Bytes that are sent at a time, and the delay between them; 0 sends all at once. */
  slowly = { bytes: 0, delayMs: 0 };
  /** A false checksum for the tree and the headers. */
  announcedSha256: string | undefined;
  /** Corrupts these bytes. */
  isLying = false;
  /** Entries of a page of the tree. */
  pageEntries = 1000;
  /** How many requests an address for bytes is valid for. */
  addressUses = Number.POSITIVE_INFINITY;
  /** Bytes sent, of all files. */
  bytesSent = 0;
  intercept: Intercept = () => false;
  interceptBytes: Intercept = () => false;
  readonly #api: Server;
  readonly #bytes: Server;
  readonly #repositories = new Map<string, FakeRepository>();
  readonly #uses = new Map<string, number>();
  readonly #holds = new Map<string, Hold>();

  private constructor(api: Server, bytes: Server) {
    this.#api = api;
    this.#bytes = bytes;
    api.on("request", (request: IncomingMessage, response: ServerResponse) =>
      this.#respond(request, response),
    );
    bytes.on("request", (request: IncomingMessage, response: ServerResponse) => {
      this.#sendBytes(request, response).catch(() => response.destroy());
    });
  }

  static async start(...repositories: FakeRepository[]): Promise<FakeHub> {
    const servers = [createServer(), createServer()] as const;
    for (const server of servers) {
      server.listen(0, "127.0.0.1");
      await once(server, "listening");
    }
    const hub = new FakeHub(...servers);
    for (const made of repositories) hub.add(made);
    return hub;
  }

  add(made: FakeRepository): void {
    this.#repositories.set(made.repo, made);
  }

  /**
   * Sends no byte of the file at or after `bytes` from now on, in any response, until the returned function is called. Responses wait
   * meanwhile, with their connections open.
   */
  hold(repo: string, path: string, bytes: number): () => void {
    const name = `${repo}/${path}`;
    let release = (): void => {};
    const released = new Promise<void>((resolve) => {
      release = resolve;
    });
    this.#holds.set(name, { bytes, released });
    return () => {
      this.#holds.delete(name);
      release();
    };
  }

  get url(): string {
    return addressOf(this.#api);
  }

  get bytesUrl(): string {
    return addressOf(this.#bytes);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const server of [this.#api, this.#bytes]) {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    }
  }

  #respond(request: IncomingMessage, response: ServerResponse): void {
    this.requests.push(request);
    if (this.intercept(request, response)) return;
    const { pathname, searchParams } = new URL(request.url ?? "", this.url);
    if (pathname === "/api/models") return this.#search(searchParams, response);
    const api = /^\/api\/models\/([^/]+\/[^/]+)\/(revision|tree)\/([^/]+)$/.exec(pathname);
    const file = /^\/([^/]+\/[^/]+)\/resolve\/([^/]+)\/(.+)$/.exec(pathname);
    const repository = this.#repositories.get(api?.[1] ?? file?.[1] ?? "");
    const mayRead = request.headers.authorization === `Bearer ${goodToken}`;
    if (repository === undefined || (repository.isPrivate === true && !mayRead)) {
      // The hub does not reveal to unauthenticated clients whether there is such a repository.
      response.writeHead(mayRead ? 404 : 401, { "x-error-code": "RepoNotFound" }).end("{}");
    } else if (api?.[2] === "revision") this.#describe(repository, response);
    else if (api?.[2] === "tree") this.#list(repository, searchParams, response);
    else if (repository.isGated === true && !mayRead)
      response
        .writeHead(request.headers.authorization === undefined ? 401 : 403, { "x-error-code": "GatedRepo" })
        .end();
    else this.#redirect(repository, decodeURIComponent(file?.[3] ?? ""), response);
    return undefined;
  }

  #search(query: URLSearchParams, response: ServerResponse): void {
    const words = (query.get("search") ?? "").toLowerCase();
    const found = [...this.#repositories.values()].filter(({ repo }) => repo.toLowerCase().includes(words));
    const limit = Number(query.get("limit") ?? "1000");
    sendJson(
      response,
      found.slice(0, limit).map((repository) => infoOf(repository)),
    );
  }

  #describe(repository: FakeRepository, response: ServerResponse): void {
    sendJson(response, infoOf(repository));
  }

  #list(
    { repo, files, announcedBytes }: FakeRepository,
    query: URLSearchParams,
    response: ServerResponse,
  ): void {
    const entries = Object.entries(files).map(([path, bytes]) => {
      const size = announcedBytes?.[path] ?? bytes.length;
      return {
        type: "file",
        oid: gitOidOf(bytes),
        size,
        path,
        ...(isLarge(path)
          ? { lfs: { oid: this.announcedSha256 ?? sha256Of(bytes), size, pointerSize: 134 } }
          : {}),
      };
    });
    const from = Number(query.get("cursor") ?? "0");
    const until = from + this.pageEntries;
    if (until < entries.length) {
      response.setHeader(
        "link",
        `<${this.url}/api/models/${repo}/tree/${commit}?cursor=${until}>; rel="next"`,
      );
    }
    sendJson(response, entries.slice(from, until));
  }

  #redirect({ repo, files }: FakeRepository, path: string, response: ServerResponse): void {
    const bytes = files[path];
    if (bytes === undefined) {
      response.writeHead(404, { "x-error-code": "EntryNotFound" }).end();
      return;
    }
    const sha256 = this.announcedSha256 ?? sha256Of(bytes);
    response.writeHead(302, {
      location: `${this.bytesUrl}/${repo}/${path}?key=${this.requests.length}`,
      "x-linked-etag": `"${isLarge(path) ? sha256 : gitOidOf(bytes)}"`,
      "x-linked-size": bytes.length,
      "x-repo-commit": commit,
    });
    response.end();
  }

  async #sendBytes(request: IncomingMessage, response: ServerResponse): Promise<void> {
    this.byteRequests.push(request);
    if (this.interceptBytes(request, response)) return;
    const { pathname, search } = new URL(request.url ?? "", this.bytesUrl);
    const [, org = "", repo = "", ...rest] = decodeURIComponent(pathname).split("/");
    const path = rest.join("/");
    const file = this.#repositories.get(`${org}/${repo}`)?.files[path];
    const uses = (this.#uses.get(search) ?? 0) + 1;
    this.#uses.set(search, uses);
    if (file === undefined || uses > this.addressUses) {
      response.writeHead(403).end();
      return;
    }
    const bytes = this.isLying ? Buffer.alloc(file.length, 7) : file;
    const range = this.hasRanges ? /^bytes=(\d+)-(\d+)$/.exec(request.headers.range ?? "") : null;
    const start = Number(range?.[1] ?? 0);
    const end = Math.min(Number(range?.[2] ?? bytes.length - 1), bytes.length - 1);
    if (range !== null) response.setHeader("content-range", `bytes ${start}-${end}/${bytes.length}`);
    response.writeHead(range === null ? 200 : 206, { "content-length": end - start + 1 });
    const hold = this.#holds.get(`${org}/${repo}/${path}`);
    if (hold === undefined || end < hold.bytes) return this.#send(bytes.subarray(start, end + 1), response);
    await this.#sendHeld(bytes.subarray(start, end + 1), Math.max(0, hold.bytes - start), hold, response);
  }

  /** Sends the first bytes, and the rest when the file is released; nothing more once the client is gone. */
  async #sendHeld(bytes: Buffer, first: number, { released }: Hold, response: ServerResponse): Promise<void> {
    const gone = new Promise<void>((resolve) => response.once("close", () => resolve()));
    response.flushHeaders();
    if (first > 0) {
      this.bytesSent += first;
      response.write(bytes.subarray(0, first));
    }
    await Promise.race([released, gone]);
    if (!response.destroyed) await this.#send(bytes.subarray(first), response);
  }

  async #send(bytes: Buffer, response: ServerResponse): Promise<void> {
    const isCut = this.cutsLeft > 0 && bytes.length > this.cutAfterBytes;
    const sent = isCut ? bytes.subarray(0, this.cutAfterBytes) : bytes;
    if (isCut) this.cutsLeft -= 1;
    response.flushHeaders();
    const step = this.slowly.bytes === 0 ? Math.max(sent.length, 1) : this.slowly.bytes;
    for (let at = 0; at < sent.length && !response.destroyed; at += step) {
      const piece = sent.subarray(at, at + step);
      this.bytesSent += piece.length;
      await new Promise<void>((resolve) => response.write(piece, () => resolve()));
      if (this.slowly.delayMs > 0) await sleep(this.slowly.delayMs);
    }
    if (isCut) response.socket?.end();
    else response.end();
  }
}

function infoOf({ repo, isGated, isPrivate, tags }: FakeRepository): object {
  return {
    _id: repo,
    id: repo,
    sha: commit,
    private: isPrivate ?? false,
    gated: isGated === true ? "auto" : false,
    downloads: 1234,
    likes: 5,
    lastModified: "2026-11-01T00:00:00.000Z",
    tags: tags ?? ["gguf", "license:apache-2.0"],
  };
}

function sendJson(response: ServerResponse, value: unknown): void {
  response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(value));
}

/** Whether the hub stores such files outside git, with their own checksum. */
function isLarge(path: string): boolean {
  return /\.(?:gguf|safetensors)$/.test(path);
}

/** Git's object id of these contents. */
function gitOidOf(bytes: Uint8Array): string {
  return createHash("sha1").update(`blob ${bytes.length}\0`).update(bytes).digest("hex");
}

export function sha256Of(bytes: Uint8Array): string {
  return createHash("sha256").update(bytes).digest("hex");
}

function addressOf(server: Server): string {
  const address: AddressInfo | string | null = server.address();
  if (address === null || typeof address === "string") throw new Error("the hub is closed");
  return `http://127.0.0.1:${address.port}`;
}
