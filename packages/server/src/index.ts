// The public names of @ingle/server.
export { buildApp, type AppDependencies } from "./app.ts";
export { ConfigError, resolveConfig, type ServerConfig, type ServerFlags } from "./config.ts";
export type { KnownModel, ModelLoader, ModelSource, PreparedModel } from "./models/catalog/known-model.ts";
export type { LoadSettings } from "./models/slot/load-settings.ts";
export { modelLibrary, type ModelLibrary } from "./models/library/model-library.ts";
export { ModelRegistry, type RegistryOptions } from "./models/registry.ts";
export { serve, type RunningServer, type ServeDependencies } from "./serve.ts";
export { variantNames, variants, type OnLoading, type Variant, type VariantName } from "./variants.ts";
