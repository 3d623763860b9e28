// createIngle(): an AI SDK provider for the models of an Ingle server.
import { OpenAICompatibleEmbeddingModel } from "@ai-sdk/openai-compatible";
import {
  NoSuchModelError,
  type EmbeddingModelV3,
  type LanguageModelV3,
  type ProviderV3,
  type RerankingModelV3,
} from "@ai-sdk/provider";
import { IngleChatModel, IngleCompletionModel, providerName } from "./language-models.ts";
import { IngleRerankingModel } from "./reranking-model.ts";

export interface IngleProviderSettings {
  /** Address of the server, up to and including `/v1`. Default `http://127.0.0.1:1337/v1`. */
  baseURL?: string;
  /** Sent as `Authorization: Bearer …`. Default: none; a server without keys needs none. */
  apiKey?: string;
  /** Additional headers for every request. */
  headers?: Readonly<Record<string, string>>;
  /** Default: the global `fetch`. */
  fetch?: typeof globalThis.fetch;
}

/** Model ids are those of `GET /v1/models`. An unknown one fails when it is used, with status 404. */
export interface IngleProvider extends ProviderV3 {
  (modelId: string): LanguageModelV3;
  /** Chats, with images, tools, reasoning and structured output. Options: `IngleChatOptions`. */
  chatModel(modelId: string): LanguageModelV3;
  /** Continues a text without a chat template. Options: `IngleCompletionOptions`. */
  completionModel(modelId: string): LanguageModelV3;
  /** Options: `IngleEmbeddingOptions`. */
  embeddingModel(modelId: string): EmbeddingModelV3;
  /** Orders documents by how well they fit a query. */
  rerankingModel(modelId: string): RerankingModelV3;
  /** Throws `NoSuchModelError`: Ingle does not generate images. */
  imageModel(modelId: string): never;
}

/** Throws `TypeError` for a `baseURL` that is not a URL. */
export function createIngle(settings: IngleProviderSettings = {}): IngleProvider {
  const { baseURL = "http://127.0.0.1:1337/v1", apiKey, headers = {}, fetch } = settings;
  const { href } = new URL(baseURL);
  const base = href.replace(/\/+$/, "");
  const sent = { ...(apiKey === undefined ? {} : { Authorization: `Bearer ${apiKey}` }), ...headers };
  const config = (kind: string) => ({
    provider: `${providerName}.${kind}`,
    url: ({ path }: { path: string }) => base + path,
    headers: () => sent,
    ...(fetch === undefined ? {} : { fetch }),
  });
  const chatModel = (modelId: string): LanguageModelV3 =>
    new IngleChatModel(modelId, { ...config("chat"), includeUsage: true, supportsStructuredOutputs: true });
  return Object.assign((modelId: string) => chatModel(modelId), {
    specificationVersion: "v3" as const,
    languageModel: chatModel,
    chatModel,
    completionModel: (modelId: string): LanguageModelV3 =>
      new IngleCompletionModel(modelId, { ...config("completion"), includeUsage: true }),
    embeddingModel: (modelId: string): EmbeddingModelV3 =>
      new OpenAICompatibleEmbeddingModel(modelId, config("embedding")),
    rerankingModel: (modelId: string): RerankingModelV3 =>
      new IngleRerankingModel(modelId, config("reranking")),
    imageModel: (modelId: string): never => {
      throw new NoSuchModelError({ modelId, modelType: "imageModel" });
    },
  });
}
