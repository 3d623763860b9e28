// Digests, by which Ollama's clients distinguish models and phases of downloads. Clients cut them without checking their length.
import { createHash } from "node:crypto";
import type { ModelSlot } from "../../models/slot/model-slot.ts";

/** The SHA-256 of the model's file; if the library does not have it, that of the model's name. */
export function digestOfModel({ id, profile }: ModelSlot): string {
  return profile.listed?.sha256 ?? digestOf(id);
}

/** Identifies one phase of a download: each has its own bytes and progress bar. */
export function digestOfPhase(model: string, phase: string): string {
  return `sha256:${digestOf(model, phase)}`;
}

function digestOf(...parts: unknown[]): string {
  return createHash("sha256").update(JSON.stringify(parts)).digest("hex");
}
