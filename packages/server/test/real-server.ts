// A server with a real tiny model and a real socket, for the end-to-end tests.
import { readFile } from "node:fs/promises";
import path from "node:path";
import { load, type LoadOptions, type Model } from "@ingle/engine";
import { exactArithmetic, tinyAudioModel, tinyModel, tinyVisionModel } from "@ingle/fixtures";
import { ModelRegistry, resolveConfig, serve, type RunningServer, type ServerFlags } from "@ingle/server";

export const modelId = "tiny";

export interface RealServer extends AsyncDisposable {
  /** Up to and including /v1. */
  baseUrl: string;
  model: Model;
  /** Where KV-cache events are published, if `flags` enable it. */
  kvEvents: RunningServer["kvEvents"];
  post(body: object, signal?: AbortSignal, headers?: Record<string, string>): Promise<Response>;
}

export async function realServer(
  options: {
    fixture?: Parameters<typeof tinyModel>[0];
    /** A model of this architecture that reads images, instead of `fixture`. */
    vision?: Parameters<typeof tinyVisionModel>[0]["architecture"];
    /** A model that takes audio, with this encoder, instead of `fixture`. */
    audio?: Parameters<typeof tinyAudioModel>[0]["audio"];
    load?: LoadOptions;
    flags?: ServerFlags;
  } = {},
): Promise<RealServer> {
  const config = resolveConfig({ flags: { port: 0, insecureShortKey: true, ...options.flags }, env: {} });
  const registry = new ModelRegistry({ ...config.models, waitingMax: config.engine.waitingMax });
  const server = await serve(config, { logger: false, registry });
  const { file, mmproj } = await modelFiles(options);
  // And F32 weights, so that texts do not depend on the rest of the batch.
  const model = await registry.load(modelId, () =>
    load(file, { engine: "process", threads: 1, ...exactArithmetic, mmproj, ...options.load }),
  );
  const baseUrl = `${server.url}/v1`;
  const post: RealServer["post"] = (body, signal, headers) =>
    fetch(`${baseUrl}/chat/completions`, {
      method: "POST",
      headers: { "content-type": "application/json", ...headers },
      body: JSON.stringify({ model: modelId, ...body }),
      ...(signal === undefined ? {} : { signal }),
    });
  const { kvEvents } = server;
  return { baseUrl, model, kvEvents, post, [Symbol.asyncDispose]: () => server.close({ deadlineMs: 0 }) };
}

async function modelFiles({
  fixture,
  vision,
  audio,
}: NonNullable<Parameters<typeof realServer>[0]>): Promise<{ file: string; mmproj: string | null }> {
  if (audio !== undefined) {
    const { model, projector } = await tinyAudioModel({ architecture: "lfm2", weights: "f32", audio });
    return { file: model, mmproj: projector };
  }
  if (vision === undefined) return { file: await tinyModel({ weights: "f32", ...fixture }), mmproj: null };
  const { model, projector } = await tinyVisionModel({ architecture: vision, weights: "f32" });
  return { file: model, mmproj: projector };
}

const templates = path.join(import.meta.dirname, "../../../vendor/llama.cpp/source/models/templates");

/** One of llama.cpp's chat templates, by its file name. Its date stands still: what random weights reply depends on every token. */
export async function chatTemplate(name: string): Promise<string> {
  const template = await readFile(path.join(templates, `${name}.jinja`), "utf8");
  return template.replaceAll(/strftime_now\([^)]*\)/g, '"2026-11-23"');
}

export const user = (content: string): { role: "user"; content: string }[] => [{ role: "user", content }];
