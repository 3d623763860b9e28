import { describe, expect, test } from "vitest";
import { groupGgufFiles } from "./gguf-files.ts";
import type { ListKind } from "./projector-files.ts";

/** The projector of each model in the list, by the model's file. */
function pairs(kind: ListKind, ...paths: string[]): Record<string, string | undefined> {
  const listed = paths.map((path) => ({ path, sizeBytes: 1 }));
  const groups = groupGgufFiles(listed, kind);
  return Object.fromEntries(groups.map(({ files, mmproj }) => [files[0]?.path ?? "", mmproj?.path]));
}

describe("a projector that is named like a model", () => {
  test.each([
    ["mmproj-Qwen2-VL-7B-Instruct-f16.gguf", "Qwen2-VL-7B-Instruct-Q4_K_M.gguf"],
    ["mmproj-qwen2-vl-7b-instruct-f16.gguf", "Qwen2-VL-7B-Instruct-Q4_K_M.gguf"],
    ["moondream2-mmproj-f16.gguf", "moondream2-text-model-f16.gguf"],
    ["Qwen2.5-VL-3B.mmproj-Q8_0.gguf", "Qwen2.5-VL-3B.Q4_K_M.gguf"],
    ["Qwen2.5-VL-3B.mmproj-fp16.gguf", "Qwen2.5-VL-3B.i1-IQ2_XXS.gguf"],
    ["LFM2-VL-450M-F16-mmproj.gguf", "LFM2-VL-450M-Q4_0.gguf"],
    ["mmproj-gemma-3-4b-it-BF16.gguf", "gemma-3-4b-it-qat-Q4_0.gguf"],
    ["mmproj-big-F16.gguf", "big-Q8_0-00001-of-00002.gguf"],
    [
      "ggml-org_gemma-3-4b-it-GGUF_mmproj-model-f16.gguf",
      "ggml-org_gemma-3-4b-it-GGUF_gemma-3-4b-it-Q4_K_M.gguf",
    ],
    ["acme_VL-GGUF_mmproj-VL-Q8_0.gguf", "acme_VL-GGUF_VL-Q8_0.gguf"],
  ])("%s belongs to %s, and to no other model in a folder", (projector, model) => {
    const parts = model.includes("-00001-of-") ? [model.replace("-00001-", "-00002-")] : [];
    expect(pairs("folder", "LFM2-350M-Q4_K_M.gguf", projector, model, ...parts, "zephyr.gguf")).toEqual({
      "LFM2-350M-Q4_K_M.gguf": undefined,
      [model]: projector,
      "zephyr.gguf": undefined,
    });
  });

  test("is matched by whole words, and the longest name wins", () => {
    expect(pairs("folder", "lfm2-vl-1.6b.gguf", "lfm2-vl-16b.gguf", "mmproj-lfm2-vl-1.gguf")).toEqual({
      "lfm2-vl-1.6b.gguf": "mmproj-lfm2-vl-1.gguf",
      "lfm2-vl-16b.gguf": undefined,
    });
    const names = ["mmproj-a-F16.gguf", "mmproj-a-chat-F32.gguf"];
    expect(pairs("folder", "a-Q8_0.gguf", "a-chat-Q8_0.gguf", ...names)).toEqual({
      "a-Q8_0.gguf": "mmproj-a-F16.gguf",
      "a-chat-Q8_0.gguf": "mmproj-a-chat-F32.gguf",
    });
  });

  test("belongs to its model in a repository of two models, too", () => {
    expect(pairs("repository", "vl-2b-Q4_0.gguf", "draft-Q4_0.gguf", "mmproj-vl-2b-f16.gguf")).toEqual({
      "vl-2b-Q4_0.gguf": "mmproj-vl-2b-f16.gguf",
      "draft-Q4_0.gguf": undefined,
    });
  });
});

describe("a projector that is named like no model", () => {
  const nameless = [
    "mmproj-model-f16.gguf",
    "mmproj-F16.gguf",
    "mmproj.gguf",
    "model-mmproj-Q8_0.gguf",
    "ggml-model-mmproj.gguf",
    "mmproj-another-f16.gguf",
  ];

  test.each(nameless)("%s belongs to all models of its repository", (projector) => {
    expect(pairs("repository", "vl-Q4_0.gguf", "vl-Q4_0_s.gguf", "sub/vl-Q8_0.gguf", projector)).toEqual({
      "vl-Q4_0.gguf": projector,
      "vl-Q4_0_s.gguf": projector,
      "sub/vl-Q8_0.gguf": projector,
    });
  });

  test.each(nameless)("%s belongs to the only model in a folder, in all its quantizations", (projector) => {
    expect(pairs("folder", "vl-Q4_K_M.gguf", "vl.F16.gguf", projector)).toEqual({
      "vl-Q4_K_M.gguf": projector,
      "vl.F16.gguf": projector,
    });
  });

  test.each(nameless)("%s belongs to none in a folder of several models", (projector) => {
    expect(pairs("folder", "vl-Q4_K_M.gguf", "text-Q4_K_M.gguf", projector)).toEqual({
      "vl-Q4_K_M.gguf": undefined,
      "text-Q4_K_M.gguf": undefined,
    });
  });

  test("is looked for in the model's own folder first", () => {
    const names = [
      "a/a-Q4_0.gguf",
      "a/mmproj-F32.gguf",
      "a/mmproj-F16.gguf",
      "b/b-Q4_0.gguf",
      "b/mmproj-BF16.gguf",
    ];
    expect(pairs("folder", ...names)).toEqual({
      "a/a-Q4_0.gguf": "a/mmproj-F16.gguf",
      "b/b-Q4_0.gguf": "b/mmproj-BF16.gguf",
    });
  });
});
