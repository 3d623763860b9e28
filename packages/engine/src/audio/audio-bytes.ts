// Reads the bytes of an audio file from base64, within the limits.
import { readBase64 } from "../base64.ts";
import { EngineError } from "../errors.ts";
import { checkAudioBytes, type AudioFile, type AudioLimits } from "./audio-limits.ts";

/** The bytes of a file in base64. Throws `audio_too_large`, before anything is decoded, and `audio_invalid`. */
export function audioBytes(base64: string, limits: Pick<AudioLimits, "maxBytes"> = {}): AudioFile {
  const { bytes, decode } = readBase64(base64);
  checkAudioBytes(bytes, limits);
  const decoded = decode();
  if (decoded === undefined)
    throw new EngineError("audio_invalid", "The data of an audio is not valid base64.");
  return decoded;
}
