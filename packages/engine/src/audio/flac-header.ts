// The header of a FLAC file: its first metadata block, STREAMINFO (RFC 9639, section 8.2).
import type { AudioHeader } from "./audio-limits.ts";

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
