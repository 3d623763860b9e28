// Fetches an image by URL from a host that the operator has allowed. The name is resolved once, all its addresses must be public,
// and the connection uses the checked address, so that a changed DNS record cannot redirect it. Redirects are not followed, because
// they would bypass these checks.
import { lookup } from "node:dns/promises";
import { request as requestHttp, type IncomingMessage, type RequestOptions } from "node:http";
import { request as requestHttps } from "node:https";
import { isIP, type LookupFunction } from "node:net";

import { TimeLimit } from "../signals.ts";
import { WireError } from "../wire-error.ts";
import { isPublicAddress } from "../access/ip-address.ts";

export interface ImageFetchOptions {
  /** Exact host names in lower case, without ports; IPv6 addresses without brackets. */
  allowedHosts: ReadonlySet<string>;
  /** Maximum size in bytes. */
  maxBytes: number;
  /** Called with the size of each piece; throwing ends the download. */
  onBytes?: (bytes: number) => void;
  signal: AbortSignal;
  /** Returns all addresses of a host name. Default: the system's resolver. */
  resolve?: (host: string) => Promise<string[]>;
  /** Whether connecting to an address is allowed. Default: to public ones. */
  mayConnect?: (address: string) => boolean;
}

/** Time limit for the whole download: meanwhile the request holds its place in the queue. */
const fetchMsMax = 15_000;
const successStatus = 200;

/** Throws `image_invalid`, `payload_too_large`, or the signal's reason. Messages never reveal what a host returned. */
export async function fetchImage(url: string, options: ImageFetchOptions): Promise<Buffer> {
  const target = allowedTarget(url, options.allowedHosts);
  using limit = new TimeLimit(options.signal, fetchMsMax);
  const { signal } = limit;
  try {
    const address = await resolveAddress(target.host, options);
    signal.throwIfAborted();
    const response = await get(target.url, address, signal);
    return await readBody(response, options);
  } catch (error) {
    options.signal.throwIfAborted();
    if (error instanceof WireError) throw error;
    throw new WireError("image_invalid", "The image could not be fetched from its URL.", { cause: error });
  }
}

/** The URL parser has normalized addresses: `http://0x7f.1/` is 127.0.0.1 here. */
function allowedTarget(text: string, allowedHosts: ReadonlySet<string>): { url: URL; host: string } {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined || (url.protocol !== "https:" && url.protocol !== "http:"))
    throw refusal(
      "An image's URL must be a data: URL, or an http(s) URL on a host that this server may fetch from.",
    );
  if (url.username !== "" || url.password !== "")
    throw refusal("An image's URL must not contain a user name or password.");
  const host = url.hostname.replace(/^\[|\]$/g, "").toLowerCase();
  if (!allowedHosts.has(host))
    throw refusal("This server does not fetch images from this host. Send the image as a data: URL.");
  return { url, host };
}

async function resolveAddress(
  host: string,
  { resolve = resolveAll, mayConnect = isPublicAddress }: ImageFetchOptions,
): Promise<string> {
  const addresses = isIP(host) === 0 ? await resolve(host) : [host];
  const [first] = addresses;
  // A private address among public ones is a sign of an attack.
  if (first === undefined || !addresses.every(mayConnect))
    throw refusal("This server does not fetch images from this host: its address is not public.");
  return first;
}

async function resolveAll(host: string): Promise<string[]> {
  const found = await lookup(host, { all: true, verbatim: true });
  return found.map(({ address }) => address);
}

async function get(url: URL, address: string, signal: AbortSignal): Promise<IncomingMessage> {
  const options: RequestOptions = {
    signal,
    lookup: pinnedTo(address),
    // No keep-alive: the next request resolves the name again.
    agent: false,
    headers: { accept: "image/*", "user-agent": "ingle" },
  };
  return new Promise((resolve, reject) => {
    const sent =
      url.protocol === "https:" ? requestHttps(url, options, resolve) : requestHttp(url, options, resolve);
    sent.on("error", reject);
    sent.end();
  });
}

/** A DNS lookup that always returns the one checked address. */
function pinnedTo(address: string): LookupFunction {
  return (_host, { all }, done) => {
    const family = isIP(address);
    if (all === true) done(null, [{ address, family }]);
    else done(null, address, family);
  };
}

async function readBody(
  response: IncomingMessage,
  { maxBytes, onBytes }: Pick<ImageFetchOptions, "maxBytes" | "onBytes">,
): Promise<Buffer> {
  try {
    if (response.statusCode !== successStatus)
      throw refusal("The image could not be fetched: its host did not return an image.");
    const announced = Number(response.headers["content-length"] ?? 0);
    const pieces: Buffer[] = [];
    let bytes = 0;
    if (announced > maxBytes) throw tooLarge(maxBytes);
    for await (const piece of response as AsyncIterable<Buffer>) {
      bytes += piece.length;
      if (bytes > maxBytes) throw tooLarge(maxBytes);
      onBytes?.(piece.length);
      pieces.push(piece);
    }
    return Buffer.concat(pieces);
  } finally {
    response.destroy();
  }
}

function tooLarge(maxBytes: number): WireError {
  return new WireError(
    "payload_too_large",
    `An image is larger than ${maxBytes} bytes. Send a smaller or compressed one.`,
  );
}

function refusal(message: string): WireError {
  return new WireError("image_invalid", message);
}
