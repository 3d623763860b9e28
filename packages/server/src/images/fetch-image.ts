// Fetches an image that a request names by its URL, from hosts that the operator has allowed. The name is resolved once, each of
// its addresses must be public, and the connection goes to the address that was looked at, so that a
// changed DNS record cannot redirect it. Redirects are not followed: they would lead past all of that.
import { lookup } from "node:dns/promises";
import { request as requestHttp, type IncomingMessage, type RequestOptions } from "node:http";
import { request as requestHttps } from "node:https";
import { isIP, type LookupFunction } from "node:net";

import { WireError } from "../wire-error.ts";
import { isPublicAddress } from "../access/ip-address.ts";

export interface ImageFetchOptions {
  /** Exact names of hosts, in lower case, without ports; addresses of IPv6 without brackets. */
  allowedHosts: ReadonlySet<string>;
  /** Most bytes that are taken. */
  maxBytes: number;
  /** Called with the bytes that came, piece by piece; what it throws ends the fetching. */
  onBytes?: (bytes: number) => void;
  signal: AbortSignal;
  /** All addresses of a name. Default: the system's resolver. */
  resolve?: (host: string) => Promise<string[]>;
  /** Whether an address may be connected to. Default: public ones. */
  mayConnect?: (address: string) => boolean;
}

/** Until the last byte: an image that takes longer keeps a request from its model. */
const fetchMsMax = 15_000;
const successStatus = 200;

/** Throws `image_invalid`, `payload_too_large`, and the signal's reason. The messages never reveal what a host returned. */
export async function fetchImage(url: string, options: ImageFetchOptions): Promise<Buffer> {
  const target = allowedTarget(url, options.allowedHosts);
  const signal = AbortSignal.any([options.signal, AbortSignal.timeout(fetchMsMax)]);
  try {
    const address = await addressOf(target.host, options);
    signal.throwIfAborted();
    const response = await get(target.url, address, signal);
    return await bodyOf(response, options);
  } catch (error) {
    options.signal.throwIfAborted();
    if (error instanceof WireError) throw error;
    throw new WireError("image_invalid", "The image could not be fetched from its URL.", { cause: error });
  }
}

/** The URL parser has made numbers of all kinds into addresses: `http://0x7f.1/` is 127.0.0.1 here. */
function allowedTarget(text: string, allowedHosts: ReadonlySet<string>): { url: URL; host: string } {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined || (url.protocol !== "https:" && url.protocol !== "http:"))
    throw refusal("An image's URL must be a data: URL, or http(s) of a host that this server fetches from.");
  if (url.username !== "" || url.password !== "") throw refusal("An image's URL must not hold a password.");
  const host = url.hostname.replace(/^\[|\]$/g, "").toLowerCase();
  if (!allowedHosts.has(host))
    throw refusal("Images are not fetched from this host. Send the image itself, as a data: URL.");
  return { url, host };
}

async function addressOf(
  host: string,
  { resolve = resolveAll, mayConnect = isPublicAddress }: ImageFetchOptions,
): Promise<string> {
  const addresses = isIP(host) === 0 ? await resolve(host) : [host];
  const [first] = addresses;
  // A private address among public ones is a sign of an attack.
  if (first === undefined || !addresses.every(mayConnect))
    throw refusal("Images are not fetched from this host: its address is not a public one.");
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
    // Connections are not kept: the next request resolves the name again.
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

/** Whatever is asked for, the one address that was checked. */
function pinnedTo(address: string): LookupFunction {
  return (_host, { all }, done) => {
    const family = isIP(address);
    if (all === true) done(null, [{ address, family }]);
    else done(null, address, family);
  };
}

async function bodyOf(
  response: IncomingMessage,
  { maxBytes, onBytes }: Pick<ImageFetchOptions, "maxBytes" | "onBytes">,
): Promise<Buffer> {
  try {
    if (response.statusCode !== successStatus)
      throw refusal("The image could not be fetched: its host did not answer with an image.");
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
    `An image has more than ${maxBytes} bytes. Send it smaller or compressed.`,
  );
}

function refusal(message: string): WireError {
  return new WireError("image_invalid", message);
}
