// Determines what a model can do besides generating text: the same rule for every list of models.
import type { ModelTraits, ProjectorTraits } from "@ingle/engine";
import type { ModelCapability } from "@ingle/protocol";

/** `traits`: facts from its file, if it has been read. The others: what the projector reads that it is loaded with. */
export function capabilitiesOf(
  traits: Partial<ModelTraits> | undefined,
  { readsImages, readsAudio }: ProjectorTraits,
): ModelCapability[] {
  const canDo: Record<ModelCapability, boolean> = {
    vision: readsImages,
    audio: readsAudio,
    tools: traits?.knowsTools === true,
    thinking: traits?.knowsThinking === true,
    embeddings: traits?.isEmbedder === true,
  };
  return inOrder.filter((each) => canDo[each]);
}

const inOrder: readonly ModelCapability[] = ["vision", "audio", "tools", "thinking", "embeddings"];
