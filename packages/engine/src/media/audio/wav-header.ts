// The headers of WAV and FLAC files.
import type { AudioHeader } from "./audio-limits.ts";

/** Chunks before the samples: `fmt `, and a few with titles and the like. */
const chunksMax = 64;

/** Encodings that are decoded, with their bits per sample. Those of 0xfffe have the encoding in their extension. */
const encodings: Readonly<Record<number, readonly number[]>> = {
  1: [8, 16, 24, 32], // integers
  3: [32, 64], // floating-point numbers
  6: [8], // A-law
  7: [8], // µ-law
};
const EXTENSIBLE = 0xfffe;

interface Encoding {
  channels: number;
  sampleRate: number;
  frameBytes: number;
}

/** Undefined for a file that is none, or with an encoding that is not decoded. */
export function readWavHeader(bytes: Buffer): Omit<AudioHeader, "format"> | undefined {
  if (bytes.toString("latin1", 8, 12) !== "WAVE") return undefined;
  let encoding: Encoding | undefined;
  for (let chunk = 0, at = 12; chunk < chunksMax && at + 8 <= bytes.length; chunk += 1) {
    const name = bytes.toString("latin1", at, at + 4);
    const size = bytes.readUInt32LE(at + 4);
    const body = bytes.subarray(at + 8, at + 8 + size);
    if (name === "fmt ") encoding = readEncoding(body);
    if (name === "data") {
      if (encoding === undefined) return undefined;
      const { channels, sampleRate, frameBytes } = encoding;
      // A file that was written to a pipe claims more than there is.
      return { channels, sampleRate, seconds: body.length / frameBytes / sampleRate };
    }
    at += 8 + size + (size % 2);
  }
  return undefined;
}

function readEncoding(body: Buffer): Encoding | undefined {
  if (body.length < 16) return undefined;
  const tag = body.readUInt16LE(0);
  const channels = body.readUInt16LE(2);
  const sampleRate = body.readUInt32LE(4);
  const frameBytes = body.readUInt16LE(12);
  const bits = body.readUInt16LE(14);
  const kind = tag === EXTENSIBLE && body.length >= 26 ? body.readUInt16LE(24) : tag;
  if (encodings[kind]?.includes(bits) !== true || frameBytes !== (channels * bits) / 8 || sampleRate === 0)
    return undefined;
  return { channels, sampleRate, frameBytes };
}

const STREAMINFO_BYTES = 34;

/** Undefined for a file without one. */
export function readFlacHeader(bytes: Buffer): Omit<AudioHeader, "format"> | undefined {
  if (bytes.length < 8 + STREAMINFO_BYTES) return undefined;
  const isStreamInfo = (bytes.readUInt8(4) & 0x7f) === 0 && bytes.readUIntBE(5, 3) === STREAMINFO_BYTES;
  if (!isStreamInfo) return undefined;
  // 20 bits of sample rate, 3 of channels, 5 of sample size, and 36 of the number of samples.
  const packed = bytes.readBigUInt64BE(8 + 10);
  const sampleRate = Number(packed >> 44n);
  const channels = Number((packed >> 41n) & 7n) + 1;
  const samples = Number(packed & 0xf_ffff_ffffn);
  if (sampleRate === 0) return undefined;
  return { channels, sampleRate, seconds: samples === 0 ? null : samples / sampleRate };
}
