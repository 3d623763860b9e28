// The conventions of all routes of Ollama's API: the names and digests of models, and the form of errors and of streams.
import type { ErrorBody, OllamaError } from "@ingle/protocol";
import { jsonLine } from "../../http/event-stream.ts";
import type { Streaming, WireConventions } from "../../generation/generation-route.ts";
import { createHash } from "node:crypto";
import type { ModelSlot } from "../../models/slot/model-slot.ts";

export const ollamaConventions = {
  fieldNames: { responseFormat: "format", maxTokens: "options.num_predict", stop: "options.stop" },
  errorShape: toOllamaError,
} satisfies WireConventions;

/** Streams are JSON objects, one per line, without blank lines or comments: clients parse every line. */
export const ollamaStreaming: Streaming = { contentType: "application/x-ndjson", isDefault: true };

function toOllamaError({ error }: ErrorBody): OllamaError {
  return { error: error.message };
}

export function ollamaErrorLine(error: ErrorBody): string {
  return jsonLine(toOllamaError(error));
}

/** Prefixes by which Ollama's clients name a repository of the hub. */
const hubPrefix = /^(?:hf\.co|huggingface\.co)\//;

/**
 * Converts a model name of Ollama, `name:tag`, to ours: drops the tag `latest` and a prefix of the hub. The rest is an id or an
 * alias or, for a pull, a name for `ingle pull`: `hf.co/org/repo:Q4_K_M` becomes `org/repo:Q4_K_M`.
 */
export function toModelName(name: string): string {
  return name.replace(hubPrefix, "").replace(/:latest$/, "");
}

/** The SHA-256 of the model's file; if the library does not have it, that of the model's name. */
export function modelDigest({ id, profile }: ModelSlot): string {
  return profile.listed?.sha256 ?? digest(id);
}

/** Identifies one phase of a download: each has its own bytes and progress bar. */
export function phaseDigest(model: string, phase: string): string {
  return `sha256:${digest(model, phase)}`;
}

function digest(...parts: unknown[]): string {
  return createHash("sha256").update(JSON.stringify(parts)).digest("hex");
}
