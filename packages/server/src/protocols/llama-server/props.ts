// GET /props: describes a model and the defaults of its requests in llama-server's form.
import type { LlamaServerProps } from "@ingle/protocol";
import type { Lease } from "../../models/registry.ts";
import { ingleVersion } from "../../this-package.ts";
import type { InferenceOptions } from "../inference.ts";
import { defaultsFor } from "../sampling-defaults.ts";
import { settingsOf } from "./engine-request.ts";

export async function toProps(
  lease: Lease,
  options: Pick<InferenceOptions, "sampling" | "variant">,
): Promise<LlamaServerProps> {
  const { id, model } = lease;
  const { info, tokenizer } = model;
  const { source, writesTools, writesToolCalls } = info.chatTemplate;
  const textOf = async (token: number): Promise<string> =>
    token < 0 ? "" : tokenizer.decode([token], { specials: true });
  return {
    default_generation_settings: {
      params: settingsOf({}, defaultsFor(lease, options)),
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
    bos_token: await textOf(info.tokens.bos),
    eos_token: await textOf(info.tokens.eos),
    build_info: `ingle-${ingleVersion()}`,
    endpoint_slots: true,
    endpoint_metrics: true,
    endpoint_props: false,
    is_sleeping: false,
  };
}
