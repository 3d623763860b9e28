// The public names of @ingle/server.
export { buildApp, type AppDependencies } from "./app.ts";
export { ConfigError, ServerConfig, resolveConfig, type ServerFlags } from "./config.ts";
export { ModelRegistry, type ModelLoader, type RegistryState } from "./models/registry.ts";
export { serve, type RunningServer, type ServeDependencies } from "./serve.ts";
export { VariantName, variants, type Variant } from "./variants.ts";
