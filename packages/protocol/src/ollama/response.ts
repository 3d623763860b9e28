// The responses of Ollama's API. Durations are in nanoseconds, times in RFC 3339.
import { z } from "zod";

import { responseObject } from "../fields/field.ts";

export const OllamaError = responseObject("OllamaError", { error: z.string() });
export type OllamaError = z.infer<typeof OllamaError>;

const logprob = { token: z.string(), logprob: z.number(), bytes: z.array(z.int()) };
const OllamaLogprob = z.object({ ...logprob, top_logprobs: z.array(z.object(logprob)).optional() });
export type OllamaLogprob = z.infer<typeof OllamaLogprob>;

const OllamaToolCall = z.object({
  id: z.string(),
  function: z.object({ index: z.int(), name: z.string(), arguments: z.record(z.string(), z.unknown()) }),
});
export type OllamaToolCall = z.infer<typeof OllamaToolCall>;

const durations = {
  total_duration: z.int().optional().describe("Nanoseconds of the whole request."),
  load_duration: z.int().optional().describe("Nanoseconds until the model could be used."),
};

/** Additional fields in the last object of a reply. */
const ollamaTotals = {
  done_reason: z.enum(["stop", "length", "load", "unload"]).optional(),
  ...durations,
  prompt_eval_count: z.int().optional().describe("Tokens of the prompt."),
  prompt_eval_duration: z.int().optional().describe("Nanoseconds of computing it."),
  eval_count: z.int().optional().describe("Tokens of the reply."),
  eval_duration: z.int().optional().describe("Nanoseconds of generating them."),
};
export type OllamaTotals = z.infer<z.ZodObject<typeof ollamaTotals>>;

const replyFields = {
  model: z.string().describe("As in the request."),
  created_at: z.string(),
  done: z.boolean().describe("Whether this is the last object of the reply."),
  ...ollamaTotals,
  logprobs: z.array(OllamaLogprob).optional(),
};

export const OllamaChatReply = responseObject("OllamaChatReply", {
  ...replyFields,
  message: z.object({
    role: z.literal("assistant"),
    content: z.string(),
    thinking: z.string().optional(),
    tool_calls: z.array(OllamaToolCall).optional(),
  }),
});
export type OllamaChatReply = z.infer<typeof OllamaChatReply>;

export const OllamaGenerateReply = responseObject("OllamaGenerateReply", {
  ...replyFields,
  response: z.string(),
  thinking: z.string().optional(),
});
export type OllamaGenerateReply = z.infer<typeof OllamaGenerateReply>;

export const OllamaEmbedReply = responseObject("OllamaEmbedReply", {
  model: z.string(),
  embeddings: z.array(z.array(z.number())),
  ...durations,
  prompt_eval_count: z.int().optional(),
});
export type OllamaEmbedReply = z.infer<typeof OllamaEmbedReply>;

export const OllamaEmbeddingsReply = responseObject("OllamaEmbeddingsReply", {
  embedding: z.array(z.number()),
});
export type OllamaEmbeddingsReply = z.infer<typeof OllamaEmbeddingsReply>;

const details = z.object({
  parent_model: z.string().describe("Always empty."),
  format: z.string(),
  family: z.string().describe("The architecture; empty until the file is read."),
  families: z.array(z.string()),
  parameter_size: z.string().describe("Such as 1.2B; empty until the model was loaded."),
  quantization_level: z.string(),
  context_length: z.int().optional(),
});
export type OllamaDetails = z.infer<typeof details>;

const modelFields = {
  name: z.string(),
  model: z.string(),
  size: z.int().describe("Bytes."),
  digest: z.string().describe("The file's SHA-256; one of the name where it is not known."),
  details,
};

export const OllamaModels = responseObject("OllamaModels", {
  models: z.array(z.object({ ...modelFields, modified_at: z.string(), capabilities: z.array(z.string()) })),
});
export type OllamaModels = z.infer<typeof OllamaModels>;

export const OllamaRunningModels = responseObject("OllamaRunningModels", {
  models: z.array(
    z.object({
      ...modelFields,
      expires_at: z.string().describe("When it is unloaded if nobody uses it; in a hundred years if never."),
      size_vram: z.int().describe("Bytes of it in the memory of devices."),
      context_length: z.int(),
    }),
  ),
});
export type OllamaRunningModels = z.infer<typeof OllamaRunningModels>;

export const OllamaModelInfo = responseObject("OllamaModelInfo", {
  license: z.string(),
  modelfile: z.string(),
  parameters: z.string(),
  template: z.string(),
  system: z.string(),
  details,
  model_info: z.record(z.string(), z.unknown()),
  capabilities: z.array(z.string()),
  modified_at: z.string(),
});
export type OllamaModelInfo = z.infer<typeof OllamaModelInfo>;

export const OllamaProgress = responseObject("OllamaProgress", {
  status: z.string().describe("success at the end."),
  digest: z.string().optional().describe("Names the phase, for progress bars; it is not a checksum."),
  total: z.int().optional().describe("Bytes of this phase."),
  completed: z.int().optional().describe("Bytes done."),
});
export type OllamaProgress = z.infer<typeof OllamaProgress>;

export const OllamaVersion = responseObject("OllamaVersion", { version: z.string() });
export type OllamaVersion = z.infer<typeof OllamaVersion>;
