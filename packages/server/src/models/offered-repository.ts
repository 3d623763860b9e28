// A repository of the hub as the server's management shows it. Used by routes/library.ts.
import type { OfferedRepository as FoundRepository } from "@ingle/engine";
import type { OfferedRepository } from "@ingle/protocol";

export function toOfferedRepository({
  repo,
  license,
  isGated,
  facts,
  models,
}: FoundRepository): OfferedRepository {
  return {
    repo,
    license,
    gated: isGated,
    architecture: facts.architecture,
    context_length: facts.contextLength ?? null,
    embeddings: facts.isEmbedder,
    models: models.map((model) => ({
      id: model.id,
      quantization: model.quantization,
      size_bytes: model.sizeBytes,
      projector: model.hasProjector,
      memory_bytes: model.memoryBytes,
      fits: model.fits,
    })),
  };
}
