// Reads the bytes of an audio file from base64, within the limits.
import { readBase64 } from "../base64.ts";
import { EngineError } from "../errors.ts";
import { checkAudioBytes, type AudioFile, type AudioLimits } from "./audio-limits.ts";

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
