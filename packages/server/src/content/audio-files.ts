// The audio files of a request, checked by their headers. The engine decodes them.
import { audioBytes, audioLimits, checkAudios, EngineError, type AudioFile, type Model } from "@ingle/engine";
import { withParam } from "./image-files.ts";
import type { UnreadAudio } from "./content-parts.ts";
import { WireError } from "../wire-error.ts";

/**
 * The file of each audio. Throws `audio_not_supported` if the model takes no audio, and `audio_invalid` or `payload_too_large` if one
 * cannot be read.
 */
export function audioFiles(
  named: readonly UnreadAudio[],
  { info }: Pick<Model, "info">,
): Map<UnreadAudio, AudioFile> {
  const [first] = named;
  if (first === undefined) return new Map();
  if (!info.readsAudio) {
    const message = "This model takes no audio. Remove the audio, or use a model that takes audio.";
    throw new WireError("audio_not_supported", message, { param: first.place });
  }
  if (named.length > audioLimits.maxAudios) {
    const message = `The request has ${named.length} audios; the maximum is ${audioLimits.maxAudios}.`;
    throw new WireError("payload_too_large", message, { param: named[audioLimits.maxAudios]?.param });
  }
  const files = new Map(named.map((audio) => [audio, decodeAudio(audio)]));
  try {
    checkAudios([...files.values()]);
    return files;
  } catch (error) {
    const index = EngineError.is(error) ? error.details["audio"] : undefined;
    throw withParam(error, (typeof index === "number" ? named[index] : first)?.param);
  }
}

function decodeAudio({ data, param }: UnreadAudio): AudioFile {
  try {
    return typeof data === "string" ? audioBytes(data) : data;
  } catch (error) {
    throw withParam(error, param);
  }
}
