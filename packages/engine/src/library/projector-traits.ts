// What a model's projector reads, from its file's header, cached.
import { readGgufKeys, type GgufMetadata } from "@ingle/gguf";
import { cachedByFile } from "./cached-by-file.ts";

export interface ProjectorTraits {
  readsImages: boolean;
  readsAudio: boolean;
}

const readCached = cachedByFile(async (file) => traitsOfHeader(await readGgufKeys(file, isNeeded)));

/** Of a model without a projector (null) or with this one. One that cannot be read counts as one for images: loading it reports the reason. */
export async function projectorTraits(file: string | null | undefined): Promise<ProjectorTraits> {
  if (file === null || file === undefined) return { readsImages: false, readsAudio: false };
  return (await readCached(file)) ?? { readsImages: true, readsAudio: false };
}

export function traitsOfHeader(metadata: GgufMetadata): ProjectorTraits {
  return {
    readsImages: isTrue(metadata, "clip.has_vision_encoder"),
    readsAudio: isTrue(metadata, "clip.has_audio_encoder"),
  };
}

function isNeeded(key: string): boolean {
  return key.startsWith("clip.has_");
}

function isTrue(metadata: GgufMetadata, key: string): boolean {
  const found = metadata.get(key);
  return found !== undefined && "value" in found && found.value === true;
}
