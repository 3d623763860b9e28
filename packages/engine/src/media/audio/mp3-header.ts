// The header of an MP3 file: that of its first frame, behind an ID3v2 tag if there is one. The number of frames is in the first one, if
// the encoder has written it ("Xing", "Info" or "VBRI"). Otherwise only decoding tells, because the bit rate may change.
import type { AudioHeader } from "./audio-limits.ts";

/** Bytes after the tag in which the first frame must begin. */
const searchedMax = 4096;

const ID3_HEADER_BYTES = 10;
const sampleRatesOfMpeg1 = [44_100, 48_000, 32_000];
/** In bits 19 and 20 of a header; 1 is reserved. */
const versions = { mpeg25: 0, mpeg2: 2, mpeg1: 3 } as const;
const LAYER_3 = 1;
/** In thousands of bits per second, by the header's number, for MPEG 1 and for MPEG 2. */
const bitRates = {
  mpeg1: [0, 32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320],
  mpeg2: [0, 8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 144, 160],
};
const MONO = 3;

interface Frame {
  channels: number;
  sampleRate: number;
  samples: number;
  bytes: number;
  /** Where a frame with the number of frames names itself so. */
  infoAt: number;
}

/** Undefined for a file that does not have two frames in a row, or one at its end. */
export function readMp3Header(bytes: Buffer): Omit<AudioHeader, "format"> | undefined {
  const begin = tagBytes(bytes);
  for (let at = begin; at < begin + searchedMax && at + 4 <= bytes.length; at += 1) {
    const frame = frameAt(bytes, at);
    if (frame === undefined) continue;
    const next = at + frame.bytes;
    if (next < bytes.length && frameAt(bytes, next)?.sampleRate !== frame.sampleRate) continue;
    const { channels, sampleRate, samples } = frame;
    const frames = readFrameCount(bytes, at, frame);
    return {
      channels,
      sampleRate,
      seconds: frames === undefined ? null : (frames * samples) / sampleRate,
    };
  }
  return undefined;
}

/** The length of an ID3v2 tag, whose size has seven bits per byte. */
function tagBytes(bytes: Buffer): number {
  if (bytes.length < ID3_HEADER_BYTES || bytes.toString("latin1", 0, 3) !== "ID3") return 0;
  const size = [6, 7, 8, 9].reduce((sum, at) => sum * 128 + (bytes.readUInt8(at) & 0x7f), 0);
  return ID3_HEADER_BYTES + size;
}

function frameAt(bytes: Buffer, at: number): Frame | undefined {
  if (at + 4 > bytes.length) return undefined;
  const header = bytes.readUInt32BE(at);
  const version = (header >>> 19) & 3;
  const rate = sampleRatesOfMpeg1[(header >>> 10) & 3];
  const isFrame = header >>> 21 === 0x7ff && version !== 1 && ((header >>> 17) & 3) === LAYER_3;
  if (!isFrame || rate === undefined) return undefined;
  const isMpeg1 = version === versions.mpeg1;
  const bitRate = bitRates[isMpeg1 ? "mpeg1" : "mpeg2"][(header >>> 12) & 15];
  if (bitRate === undefined || bitRate === 0) return undefined;
  const sampleRate = isMpeg1 ? rate : rate / (version === versions.mpeg2 ? 2 : 4);
  const samples = isMpeg1 ? 1152 : 576;
  const padding = (header >>> 9) & 1;
  const isMono = ((header >>> 6) & 3) === MONO;
  const sideBytes = isMpeg1 ? (isMono ? 17 : 32) : isMono ? 9 : 17;
  return {
    channels: isMono ? 1 : 2,
    sampleRate,
    samples,
    bytes: Math.floor(((samples / 8) * bitRate * 1000) / sampleRate) + padding,
    infoAt: at + 4 + sideBytes,
  };
}

/** The number of frames that the first one gives; undefined if it gives none. */
function readFrameCount(bytes: Buffer, at: number, { infoAt }: Frame): number | undefined {
  const name = bytes.toString("latin1", infoAt, infoAt + 4);
  if ((name === "Xing" || name === "Info") && infoAt + 12 <= bytes.length) {
    const hasFrames = (bytes.readUInt32BE(infoAt + 4) & 1) === 1;
    return hasFrames ? bytes.readUInt32BE(infoAt + 8) : undefined;
  }
  const vbriAt = at + 4 + 32;
  if (bytes.toString("latin1", vbriAt, vbriAt + 4) === "VBRI" && vbriAt + 18 <= bytes.length)
    return bytes.readUInt32BE(vbriAt + 14);
  return undefined;
}
