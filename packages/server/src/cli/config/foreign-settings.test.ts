import { describe, expect, it } from "vitest";
import { carry, readForeign } from "./foreign-settings.ts";

const modelfile = `# mine
FROM llama3.2
PARAMETER temperature 0.3
PARAMETER num_ctx 8192
PARAMETER stop "<|user|>"
parameter stop END
PARAMETER num_keep 24
SYSTEM """
Answer briefly.
In French.
"""
TEMPLATE """{{ .Prompt }}"""
ADAPTER ./lora.gguf
MESSAGE user Hello
`;

const presets = `version = 1
; for all
[*]
c = 8192
n-gpu-layers = 8
[ggml-org/MY-MODEL-GGUF:Q8_0]
# comment
chat-template = chatml
jinja = true
LLAMA_ARG_CTX_SIZE = 4096
cache-type-k = q8_0
cache-type-v = q5_1
no-mmap = true
temp = 0.7
tensor-split = 3,1
reasoning-budget-message = one \\
two
host = 0.0.0.0
`;

/** The settings of a text by model, and what is left out. */
function read(text: string): { taken: unknown[]; left: string[] } {
  const taken: unknown[] = [];
  const left: string[] = [];
  for (const { model, key, value } of readForeign(text) ?? []) {
    const carried = carry({ key, value });
    if ("reason" in carried) left.push(key);
    else taken.push([model, carried.place.join("."), carried.value]);
  }
  return { taken, left };
}

describe("settings of other programs", () => {
  it("are read from a Modelfile", () => {
    expect(read(modelfile)).toEqual({
      taken: [
        [undefined, "sampling.temperature", 0.3],
        [undefined, "context_length", 8192],
        [undefined, "sampling.stop", "<|user|>"],
        [undefined, "sampling.stop", "END"],
        [undefined, "system_prompt", "Answer briefly.\nIn French."],
      ],
      left: ["from", "num_keep", "template", "adapter", "message"],
    });
  });

  it("are read from llama-server's presets", () => {
    const model = "ggml-org/MY-MODEL-GGUF:Q8_0";
    expect(read(presets)).toEqual({
      taken: [
        ["*", "context_length", 8192],
        ["*", "gpu_layers", 8],
        [model, "chat_template", "chatml"],
        [model, "context_length", 4096],
        [model, "kv_bits_k", 8],
        [model, "mmap", false],
        [model, "sampling.temperature", 0.7],
        [model, "tensor_split", [3, 1]],
      ],
      left: ["jinja", "cache_type_v", "reasoning_budget_message", "host"],
    });
  });

  it("may have several lines in a preset", () => {
    const text = "[a]\nchat-template = {{ messages }}\\\nend\r\nc = 64";
    expect(read(text).taken).toEqual([
      ["a", "chat_template", "{{ messages }}\nend"],
      ["a", "context_length", 64],
    ]);
  });

  it("are neither in another text", () => {
    expect(readForeign("temperature = 1")).toBeUndefined();
    expect(readForeign('{ "models": {} }')).toBeUndefined();
  });
});
