// llama-server's GET /models and GET /props: describes models, and the defaults of their requests.
import { LlamaServerError, LlamaServerModels, LlamaServerProps } from "@ingle/protocol";
import type { FastifyInstance } from "fastify";
import { z } from "zod";
import { leaseModel, type InferenceOptions } from "../../generation/inference.ts";
import { defaultsFor } from "../../generation/sampling-defaults.ts";
import { addRoute, type Route } from "../../http/add-route.ts";
import type { Lease } from "../../models/slot/slot-interface.ts";
import { modelErrors } from "../../openapi/operation.ts";
import { ingleVersion } from "../../this-package.ts";
import { llamaServerConventions } from "./conventions.ts";
import { toSettings } from "./engine-request.ts";

const common = {
  ...llamaServerConventions,
  errorBody: LlamaServerError,
  right: "inference",
} as const;

export const ModelQuery = z.looseObject({ model: z.string("model must be an id").optional() });
const models = {
  ...common,
  path: "GET /models",
  summary: "List the models in llama-server's form",
  responses: { 200: LlamaServerModels },
} satisfies Route;
const props = {
  ...common,
  path: "GET /props",
  query: ModelQuery,
  summary: "Describe a model and the defaults of its requests in llama-server's form",
  responses: { 200: LlamaServerProps },
  errors: modelErrors,
} satisfies Route;
export function addModels(app: FastifyInstance, options: InferenceOptions): void {
  const { registry } = options;
  addRoute(app, models, async ({ mayUse }): Promise<LlamaServerModels> => {
    await registry.refresh();
    const data = registry.list(mayUse).map((entry) => {
      const { context_length: n_ctx, n_params, size_bytes: size, quantization: ftype } = entry;
      return { ...entry, meta: { n_ctx, n_params, size, ftype } };
    });
    return { object: "list", data };
  });
  addRoute(app, props, async (request): Promise<LlamaServerProps> => {
    return await toProps(
      await leaseModel(request, options, { model: request.query.model, mayMeanAny: true }),
      options,
    );
  });
}

async function toProps(
  lease: Lease,
  options: Pick<InferenceOptions, "sampling" | "variant">,
): Promise<LlamaServerProps> {
  const { id, model } = lease;
  const { info, tokenizer } = model;
  const { source, writesTools, writesToolCalls } = info.chatTemplate;
  const tokenText = async (token: number): Promise<string> =>
    token < 0 ? "" : tokenizer.decode([token], { specials: true });
  return {
    default_generation_settings: {
      params: toSettings({}, defaultsFor(lease, options)),
      n_ctx: info.contextLength,
    },
    total_slots: info.parallel,
    model_alias: id,
    model_path: id,
    model_ftype: info.quantization,
    modalities: { vision: info.readsImages, audio: info.readsAudio, video: false },
    media_marker: info.imageMarker,
    chat_template: source,
    chat_template_caps: { supports_tools: writesTools, supports_tool_calls: writesToolCalls },
    bos_token: await tokenText(info.tokens.bos),
    eos_token: await tokenText(info.tokens.eos),
    build_info: `ingle-${ingleVersion()}`,
    endpoint_slots: true,
    endpoint_metrics: true,
    endpoint_props: false,
    is_sleeping: false,
  };
}
