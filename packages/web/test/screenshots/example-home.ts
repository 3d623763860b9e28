// What the screenshots show: a home with models of real names and sizes, and a hub that offers more. The files are tiny models, padded
// with empty space, so nothing is downloaded and everything on the page comes from the server.
import { readFile, truncate } from "node:fs/promises";
import path from "node:path";
import { FakeHub, type FakeRepository } from "@ingle/fixtures/fake-hub";
import { tinyModel, type TinyModelOptions } from "@ingle/fixtures";

import { Home } from "../ingle-process.ts";
import { exampleModels } from "./example-chats.ts";

const megabyte = 1_000_000;

const thinkingTemplate =
  "{% for message in messages %}<|im_start|>{{ message.role }}\n{{ message.content }}<|im_end|>\n{% endfor %}" +
  "{% if add_generation_prompt %}<|im_start|>assistant\n{% if enable_thinking is defined and not enable_thinking %}" +
  "<think>\n\n</think>\n\n{% endif %}{% endif %}";

const installed: { name: string; bytes: number; options: TinyModelOptions }[] = [
  {
    name: exampleModels.large,
    bytes: 1_560 * megabyte,
    options: { architecture: "lfm2", seed: 1, contextLength: 32_768, endAfter: 40 },
  },
  {
    name: exampleModels.small,
    bytes: 731 * megabyte,
    options: { architecture: "lfm2", seed: 2, contextLength: 32_768, endAfter: 40 },
  },
  {
    name: exampleModels.thinking,
    bytes: 2_500 * megabyte,
    options: {
      architecture: "qwen3",
      seed: 3,
      contextLength: 32_768,
      endAfter: 40,
      chatTemplate: thinkingTemplate,
    },
  },
];

export async function exampleHome(): Promise<Home> {
  const files = await Promise.all(
    installed.map(async ({ name, options }) => [`${name}.gguf`, await tinyModel(options)] as const),
  );
  const home = await Home.make(Object.fromEntries(files));
  await Promise.all(
    installed.map(({ name, bytes }) => truncate(path.join(home.modelsFolder, `${name}.gguf`), bytes)),
  );
  return home;
}

/** Sizes of one model in several quantizations, in megabytes. */
const offered: Record<string, Record<string, number>> = {
  "LiquidAI/LFM2-2.6B-GGUF": {
    Q4_0: 1_480,
    Q4_K_M: 1_560,
    Q5_K_M: 1_830,
    Q6_K: 2_110,
    Q8_0: 2_730,
    F16: 5_140,
  },
  "LiquidAI/LFM2-1.2B-GGUF": { Q4_0: 696, Q4_K_M: 731, Q8_0: 1_250, F16: 2_340 },
  "LiquidAI/LFM2-700M-GGUF": { Q4_K_M: 468, Q8_0: 790 },
  "LiquidAI/LFM2-350M-GGUF": { Q4_K_M: 229, Q8_0: 379 },
  "LiquidAI/LFM2-8B-A1B-GGUF": { Q4_K_M: 5_050, Q8_0: 8_870, F16: 16_700 },
};

export async function exampleHub(): Promise<FakeHub> {
  const bytes = await readFile(
    await tinyModel({ architecture: "lfm2", contextLength: 32_768, endAfter: 20 }),
  );
  return FakeHub.start(
    ...Object.entries(offered).map(([repo, sizes]): FakeRepository => {
      const base = repo.slice(repo.indexOf("/") + 1).replace(/-GGUF$/, "");
      const names = Object.keys(sizes).map((level) => [`${base}-${level}.gguf`, level] as const);
      return {
        repo,
        files: Object.fromEntries(names.map(([name]) => [name, bytes])),
        announcedBytes: Object.fromEntries(
          names.map(([name, level]) => [name, (sizes[level] ?? 0) * megabyte]),
        ),
        tags: ["gguf", "license:other"],
      };
    }),
  );
}
