export { createIngle, type IngleProvider, type IngleProviderSettings } from "./ingle-provider.ts";
export type { IngleChatOptions, IngleCompletionOptions, IngleEmbeddingOptions } from "./provider-options.ts";
