// A server on a scripted model, with and without a socket, for tests.
import type { Model } from "@ingle/engine";
import { scriptedModel } from "./scripted-model.ts";
import type { Script, ScriptLog } from "@ingle/fixtures/scripted-addon";
import type { FastifyInstance } from "fastify";
import { buildApp, type AppDependencies } from "../../src/app.ts";
import { resolveConfig, type ServerConfig, type ServerFlags } from "../../src/config.ts";
import type { LoggerSetting } from "../../src/logger.ts";
import { ModelRegistry } from "../../src/models/registry.ts";
import { serve, type RunningServer } from "../../src/serve.ts";

export const scriptedId = "scripted-model";

export interface ScriptedOptions extends Partial<Omit<AppDependencies, "registry">> {
  script?: Script;
  flags?: ServerFlags;
}

export interface ScriptedApp extends AsyncDisposable {
  app: FastifyInstance;
  log: ScriptLog;
  registry: ModelRegistry;
}

export function testConfig(flags: ServerFlags = {}): ServerConfig {
  return resolveConfig({ flags: { port: 0, insecureShortKey: true, ...flags }, env: {} });
}

/** A registry with a scripted model. */
export async function scriptedRegistry(
  script: Script = {},
  config: ServerConfig = testConfig(),
): Promise<{ registry: ModelRegistry; log: ScriptLog; model: Model }> {
  const registry = new ModelRegistry({ ...config.models, waitingMax: config.engine.waitingMax });
  const { model, log } = await scriptedModel(script);
  // After an unload, another model is loaded, without a log.
  const load = async () => (model.disposed ? (await scriptedModel(script)).model : model);
  await registry.load(scriptedId, async () => {
    const loaded = await load();
    return {
      model: loaded,
      tokenizer: loaded.tokenizer,
      processor: loaded.processor,
      [Symbol.asyncDispose]: () => loaded[Symbol.asyncDispose](),
    };
  });
  return { registry, log, model };
}

/** For app.inject(). */
export async function scriptedApp(options: ScriptedOptions = {}): Promise<ScriptedApp> {
  const { script, flags, ...dependencies } = options;
  const config = testConfig(flags);
  const { registry, log } = await scriptedRegistry(script, config);
  const app = await buildApp(config, { ...dependencies, registry });
  return { app, log, registry, [Symbol.asyncDispose]: () => app.close() };
}

/** On a real socket of the loopback interface. */
export async function scriptedServer(
  options: Pick<ScriptedOptions, "script" | "flags" | "library"> & { logger?: LoggerSetting } = {},
): Promise<{ server: RunningServer; log: ScriptLog } & AsyncDisposable> {
  const config = testConfig(options.flags);
  const { registry, log } = await scriptedRegistry(options.script, config);
  const { logger = false, library } = options;
  const server = await serve(config, { logger, registry, library });
  return { server, log, [Symbol.asyncDispose]: () => server.close({ deadlineMs: 0 }) };
}
