// The bytes of an audio file and their limits, and what its header says.
import { z } from "zod";
import { EngineError } from "../../base/errors.ts";
import { readBase64 } from "../../base/base64.ts";

/** The bytes of a WAV, FLAC or MP3 file. */
export const AudioFile = z
  .custom<Uint8Array>((bytes) => bytes instanceof Uint8Array, "the bytes of an audio file")
  .meta({ id: "AudioFile" });
export type AudioFile = z.infer<typeof AudioFile>;

export type AudioFormat = "wav" | "flac" | "mp3";

export interface AudioHeader {
  format: AudioFormat;
  channels: number;
  /** Samples per second and channel. */
  sampleRate: number;
  /** The length that the header gives; null if it gives none, and for MP3 files without a table of contents. */
  seconds: number | null;
}

/** The limits of one audio, and of all audios of a request. */
export interface AudioLimits {
  /** Bytes of one file. Default 25 MiB: 13 minutes of WAV at 16 kHz. */
  maxBytes?: number | undefined;
  /** Seconds of all audios of a request. Default 600, which is also the native engine's limit. */
  maxSeconds?: number | undefined;
  /** Audios of one request. Default 16: each takes half a minute's tokens with most encoders, however short it is. */
  maxAudios?: number | undefined;
}

export const audioLimits = {
  maxBytes: 25 * 1024 * 1024,
  maxSeconds: 600,
  maxAudios: 16,
} as const satisfies Required<AudioLimits>;

/** What is mixed into one channel, and resampled for the model; files beyond these are no recordings of speech. */
export const channelsMax = 8;
export const sampleRates = { min: 8000, max: 192_000 } as const;

/** Throws `audio_too_large` for more bytes than allowed. */
export function checkAudioBytes(
  bytes: number,
  { maxBytes = audioLimits.maxBytes }: Pick<AudioLimits, "maxBytes"> = {},
): void {
  if (bytes <= maxBytes) return;
  const message = `An audio has ${bytes} bytes; at most ${maxBytes} are allowed. Compress it as FLAC or MP3, or send a part.`;
  throw new EngineError("audio_too_large", message, { details: { bytes, maxBytes } });
}

/** Throws `audio_too_large` for more audios than allowed. */
export function checkAudioCount(
  audios: number,
  { maxAudios = audioLimits.maxAudios }: AudioLimits = {},
): void {
  if (audios <= maxAudios) return;
  const message = `There are ${audios} audios; at most ${maxAudios} are allowed in one request.`;
  throw new EngineError("audio_too_large", message, { details: { audios, maxAudios } });
}

/** Throws `audio_too_large` if the headers give more seconds than allowed together. */
export function checkAudioSeconds(
  headers: readonly AudioHeader[],
  { maxSeconds = audioLimits.maxSeconds }: AudioLimits = {},
): void {
  const seconds = headers.reduce((sum, header) => sum + (header.seconds ?? 0), 0);
  if (seconds <= maxSeconds) return;
  const message = `The audio is ${Math.ceil(seconds)} seconds long; at most ${maxSeconds} are allowed in one request. Send a part.`;
  throw new EngineError("audio_too_large", message, { details: { seconds: Math.ceil(seconds), maxSeconds } });
}

/** The error for audio that a model cannot take; `param` is the field that has it. */
export function audioNotSupported(param: string): EngineError {
  const message = "This model takes no audio. Use one that does, or load it with its projector (mmproj).";
  return new EngineError("audio_not_supported", message, { details: { param } });
}

/** Some clients send audio as they send images. */
const prefixPattern = /^data:[^,]*;base64,/i;
/** The longest prefix, with a codec. */
const prefixLengthMax = 256;

/** The bytes of a file in base64, or in a `data:` URL of any MIME type. Throws `audio_too_large`, before anything is decoded, and `audio_invalid`. */
export function audioBytes(base64: string, limits: Pick<AudioLimits, "maxBytes"> = {}): AudioFile {
  const prefix = prefixPattern.exec(base64.slice(0, prefixLengthMax))?.[0] ?? "";
  const { bytes, decode } = readBase64(base64, prefix.length);
  checkAudioBytes(bytes, limits);
  const decoded = decode();
  if (decoded === undefined)
    throw new EngineError("audio_invalid", "The data of an audio is not valid base64.");
  return decoded;
}
