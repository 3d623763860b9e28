// One file of a repository, read in ranges. The hub redirects to an address on another host, which is valid for a limited
// time, and gives the file's size and checksum in headers.
import { EngineError } from "../../base/errors.ts";
import { fileStream, type FileStream } from "../response.ts";
import { TemporaryFailure } from "../retry.ts";
import { notAHubError, hubRequestInfo, redirectTarget } from "./hub-api.ts";
import { responseError, type HubRequestInfo } from "./hub-failure.ts";
import type { HubHttp } from "./http.ts";

interface RemoteAddress {
  url: string;
  /** Hex digest of the whole file, if the hub gives one. */
  sha256: string | undefined;
  /** Whether the address comes from a redirect and may expire. */
  isElsewhere: boolean;
}

interface RangeOptions {
  start: number;
  /** The first byte after the range. */
  end: number;
  signal?: AbortSignal | undefined;
}

const redirectsMax = 5;
/** The statuses of an expired address. */
const expiredStatuses = new Set([401, 403, 404, 410]);

export class RemoteFile {
  readonly #http: HubHttp;
  readonly #url: string;
  readonly #question: HubRequestInfo;
  #address: Promise<RemoteAddress> | undefined;

  constructor(http: HubHttp, { repo, commit, path }: { repo: string; commit: string; path: string }) {
    this.#http = http;
    this.#question = { ...hubRequestInfo(http, repo), isDownload: true };
    const file = path.split("/").map(encodeURIComponent).join("/");
    this.#url = `${http.settings.endpoint}/${repo}/resolve/${commit}/${file}`;
  }

  /** The address, requested once. Throws as `open`. */
  async address(signal?: AbortSignal): Promise<RemoteAddress> {
    const asking = (this.#address ??= this.#resolve(signal));
    try {
      return await asking;
    } catch (error) {
      if (this.#address === asking) this.#address = undefined;
      throw error;
    }
  }

  /**
   * Requests a range. Throws `download_failed`, `model_not_found`, a TemporaryFailure or the signal's reason; reading the body
   * throws the last two.
   */
  async open({ start, end, signal }: RangeOptions): Promise<FileStream> {
    const asked = this.address(signal);
    const { url, isElsewhere } = await asked;
    const headers = { "accept-encoding": "identity", range: `bytes=${start}-${end - 1}` };
    const response = await this.#http.request(url, { headers, question: this.#question, signal });
    const isFile = response.status === 200 || response.status === 206;
    const stream = isFile ? fileStream(response) : undefined;
    if (stream !== undefined && (stream.offset === start || response.status === 200)) return stream;
    response[Symbol.dispose]();
    if (stream !== undefined) throw notAHubError(this.#question);
    const failure = responseError(response, this.#question);
    if (!isElsewhere || !expiredStatuses.has(response.status) || failure instanceof TemporaryFailure)
      throw failure;
    // The address has expired: the next attempt requests a new one.
    this.#address = undefined;
    throw new TemporaryFailure(failure);
  }

  async #resolve(signal: AbortSignal | undefined): Promise<RemoteAddress> {
    const { origin } = new URL(this.#url);
    let url = this.#url;
    let sha256: string | undefined;
    for (let hops = 0; hops <= redirectsMax; hops += 1) {
      using response = await this.#http.request(url, {
        method: "HEAD",
        headers: { "accept-encoding": "identity" },
        question: this.#question,
        signal,
      });
      sha256 ??= checksumIn(response.header("x-linked-etag"));
      const next = redirectTarget(response, url);
      if (next === undefined) {
        if (response.status !== 200) throw responseError(response, this.#question);
        sha256 ??= checksumIn(response.header("etag"));
        return { url, sha256, isElsewhere: false };
      }
      url = next;
      // Another host's address is only valid for a GET.
      if (new URL(url).origin !== origin) return { url, sha256, isElsewhere: true };
    }
    throw notAHubError(this.#question, new EngineError("download_failed", "The hub redirects in a loop."));
  }
}

/** The bytes of a range, or fewer at the end of the file. Throws as `RemoteFile.open`. */
export async function readRange(
  remote: RemoteFile,
  range: { start: number; end: number; signal: AbortSignal | undefined },
): Promise<Uint8Array> {
  using stream = await remote.open(range);
  const chunks: Buffer[] = [];
  let at = stream.offset;
  for await (const chunk of stream.body) {
    // A server without ranges sends the whole file.
    chunks.push(chunk.subarray(Math.max(0, range.start - at)));
    at += chunk.length;
    if (at >= range.end) break;
  }
  return Buffer.concat(chunks).subarray(0, range.end - range.start);
}

/** The tag of a large file is its sha256, in quotes and sometimes weak; git's object ids are shorter. */
function checksumIn(etag: string | undefined): string | undefined {
  return /^(?:W\/)?"?([0-9a-f]{64})"?$/.exec(etag ?? "")?.[1];
}
