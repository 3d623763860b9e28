// Reads the headers of audio files: format, channels, sample rate and length. Only what is checked here is decoded natively.
import { EngineError } from "../../base/errors.ts";
import {
  channelsMax,
  checkAudioBytes,
  checkAudioCount,
  checkAudioSeconds,
  sampleRates,
  type AudioFormat,
  type AudioHeader,
  type AudioLimits,
} from "./audio-limits.ts";
import { readMp3Header } from "./mp3-header.ts";
import { readWavHeader, readFlacHeader } from "./wav-header.ts";

/**
 * The header of an audio file. The format is detected from the bytes. Throws `audio_invalid` for other formats, for encodings that are
 * not decoded, and for channels and sample rates outside their limits.
 */
export function readAudioHeader(bytes: Uint8Array): AudioHeader {
  const header = parseHeader(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength));
  if (header === undefined) {
    throw new EngineError(
      "audio_invalid",
      "An audio is not a WAV, FLAC or MP3 file, or is encoded in a way that is not supported, or is damaged.",
    );
  }
  const { channels, sampleRate } = header;
  if (channels < 1 || channels > channelsMax) {
    const message = `An audio has ${channels} channels; 1 to ${channelsMax} are supported. Mix it down to one.`;
    throw new EngineError("audio_invalid", message, { details: { channels } });
  }
  if (sampleRate < sampleRates.min || sampleRate > sampleRates.max) {
    const message = `An audio has ${sampleRate} samples per second; ${sampleRates.min} to ${sampleRates.max} are supported.`;
    throw new EngineError("audio_invalid", message, { details: { sampleRate } });
  }
  return header;
}

/**
 * Checks the audios of one request by their headers. Throws as `readAudioHeader`, and `audio_too_large` for too many bytes, audios or
 * seconds. The details have the index of the wrong one as `audio`.
 */
export function checkAudios(files: readonly Uint8Array[], limits: AudioLimits = {}): AudioHeader[] {
  checkAudioCount(files.length, limits);
  const headers = files.map((bytes, index) => withAudioIndex(index, () => checkedHeader(bytes, limits)));
  checkAudioSeconds(headers, limits);
  return headers;
}

function checkedHeader(bytes: Uint8Array, limits: AudioLimits): AudioHeader {
  checkAudioBytes(bytes.length, limits);
  return readAudioHeader(bytes);
}

function withAudioIndex<T>(audio: number, read: () => T): T {
  try {
    return read();
  } catch (error) {
    if (!EngineError.is(error)) throw error;
    throw new EngineError(error.code, error.message, { cause: error, details: { ...error.details, audio } });
  }
}

function parseHeader(bytes: Buffer): AudioHeader | undefined {
  const readers: Record<AudioFormat, (bytes: Buffer) => Omit<AudioHeader, "format"> | undefined> = {
    wav: readWavHeader,
    flac: readFlacHeader,
    mp3: readMp3Header,
  };
  const format = detectFormat(bytes);
  const header = readers[format](bytes);
  return header === undefined ? undefined : { format, ...header };
}

/** The native decoder has the same rule: MP3 has no signature of its own. */
function detectFormat(bytes: Buffer): AudioFormat {
  const begin = bytes.toString("latin1", 0, 4);
  if (begin === "RIFF") return "wav";
  return begin === "fLaC" ? "flac" : "mp3";
}
