// Determines what a model can do besides generating text: the same rule for every list of models.
import type { ModelTraits } from "@ingle/engine";
import type { ModelCapability } from "@ingle/protocol";

/** `traits`: facts from its file, if it has been read. `readsImages`: whether it is loaded with a projector. */
export function capabilitiesOf(
  traits: Partial<ModelTraits> | undefined,
  { readsImages }: { readsImages: boolean },
): ModelCapability[] {
  const canDo: Record<ModelCapability, boolean> = {
    vision: readsImages,
    tools: traits?.knowsTools === true,
    thinking: traits?.knowsThinking === true,
    embeddings: traits?.isEmbedder === true,
  };
  return inOrder.filter((each) => canDo[each]);
}

const inOrder: readonly ModelCapability[] = ["vision", "tools", "thinking", "embeddings"];
