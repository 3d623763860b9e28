// Converts results of the model library to responses of the management API.
import type { DefaultModel, LocatedModel, OfferedRepository as FoundRepository } from "@ingle/engine";
import type { OfferedRepository, RecommendedModel } from "@ingle/protocol";

const reasons = {
  "used-last": "used_last",
  "added-last": "added_last",
  recommended: "largest_that_fits",
  starter: "starter",
} as const satisfies Record<DefaultModel["reason"], RecommendedModel["reason"]>;

export function toRecommendedModel(chosen: DefaultModel): RecommendedModel {
  const { located } = chosen;
  return {
    model: located.id,
    installed: located.kind === "file",
    size_bytes: downloadBytes(located),
    license: findLicense(located),
    reason: reasons[chosen.reason],
    hub: hubStatus(chosen),
  };
}

function downloadBytes(located: LocatedModel): number | null {
  switch (located.kind) {
    case "hub": {
      const { sizeBytes, mmproj } = located.found.group;
      return sizeBytes + (mmproj?.sizeBytes ?? 0);
    }
    case "npm":
      return located.model.source.parts.reduce((sum, part) => sum + part.tarballBytes, 0);
    case "file":
    case "mlx":
    case "mlx-hub":
    case "adapter":
      return null;
  }
}

function findLicense(located: LocatedModel): string | null {
  if (located.kind === "hub") return located.found.repository.license ?? null;
  return located.kind === "npm" ? (located.model.license ?? null) : null;
}

function hubStatus(chosen: DefaultModel): RecommendedModel["hub"] {
  if (chosen.reason === "recommended") return "asked";
  if (chosen.reason !== "starter") return "not_asked";
  const { why } = chosen.starterReason;
  return why === "memory" ? "no_memory" : why;
}

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
