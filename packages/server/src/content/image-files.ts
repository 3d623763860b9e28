// The files of a request's images: decoded from data: URLs, or fetched from hosts that the operator has allowed, a few in parallel
// and within limits for the whole request.
import { dataUrlBytes, EngineError, imageLimits } from "@ingle/engine";
import type { UnreadImage } from "./content-parts.ts";
import { WireError } from "../wire-error.ts";
import { fetchImage, type ImageFetchOptions } from "./fetch-image.ts";

export interface ImageReading {
  /** Hosts that images may be fetched from, in lower case. Empty: only data: URLs are accepted. */
  allowedHosts: ReadonlySet<string>;
  signal: AbortSignal;
  /** Takes the paths of the parts that the model does not get. */
  ignore: (places: readonly string[]) => void;
}

/** Limits on fetching all images of one request. */
export interface FetchLimits {
  bytesMax: number;
  msMax: number;
  atOnce: number;
}

const fetchLimits: FetchLimits = {
  /** Three images of the maximum size; as data: URLs, a body has space for half of it. */
  bytesMax: 64 * 1024 * 1024,
  /** Meanwhile the request holds its place among the model's requests. */
  msMax: 30_000,
  /** Enough to hide a host's latency without burdening it. */
  atOnce: 4,
};

/** Returns the files in the order of the images. The first error, which names its field, ends the other downloads. */
export async function imageFiles(
  images: readonly UnreadImage[],
  { allowedHosts, signal }: Pick<ImageReading, "allowedHosts" | "signal">,
  world: Pick<ImageFetchOptions, "resolve" | "mayConnect"> & { limits?: FetchLimits } = {},
): Promise<Uint8Array[]> {
  const { limits = fetchLimits, ...connecting } = world;
  const stop = new AbortController();
  const timer = setTimeout(() => stop.abort(tooSlow(limits)), limits.msMax);
  let bytesLeft = limits.bytesMax;
  const fetching: ImageFetchOptions = {
    ...connecting,
    allowedHosts,
    maxBytes: imageLimits.maxBytes,
    signal: AbortSignal.any([signal, stop.signal]),
    onBytes: (bytes) => {
      bytesLeft -= bytes;
      if (bytesLeft < 0) throw tooMuch(limits);
    },
  };
  const files: Uint8Array[] = [];
  const left = images.entries();
  const worker = async (): Promise<void> => {
    for (const [index, image] of left) files[index] = await readImageFile(image, fetching);
  };
  try {
    await Promise.all(Array.from({ length: limits.atOnce }, worker));
    return files;
  } finally {
    clearTimeout(timer);
    stop.abort();
  }
}

async function readImageFile({ url, param }: UnreadImage, fetching: ImageFetchOptions): Promise<Uint8Array> {
  try {
    const isFetched = /^https?:/i.test(url) && fetching.allowedHosts.size > 0;
    return isFetched ? await fetchImage(url, fetching) : dataUrlBytes(url);
  } catch (error) {
    throw withParam(error, param);
  }
}

/** Adds the field that the error is about. */
export function withParam(error: unknown, param: string | undefined): unknown {
  if (param === undefined) return error;
  if (error instanceof WireError)
    return new WireError(error.code, error.message, { ...error.details, param, cause: error });
  if (!EngineError.is(error)) return error;
  return new EngineError(error.code, error.message, { cause: error, details: { ...error.details, param } });
}

function tooSlow({ msMax }: FetchLimits): WireError {
  return new WireError(
    "image_invalid",
    `The images of this request took longer than ${msMax / 1000} seconds to fetch. Send them as data: URLs.`,
  );
}

function tooMuch({ bytesMax }: FetchLimits): WireError {
  return new WireError(
    "payload_too_large",
    `The images fetched for this request are larger than ${bytesMax} bytes together. Send fewer or smaller ones.`,
  );
}
