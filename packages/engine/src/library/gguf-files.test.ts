import { describe, expect, test } from "vitest";
import { chooseModel, choiceName } from "./choose-quantization.ts";
import { groupGgufFiles, partNames } from "./gguf-files.ts";
import { quantizationInName } from "./quantization.ts";

const files = (...paths: string[]) => paths.map((path, index) => ({ path, sizeBytes: (index + 1) * 1e9 }));
const summary = (...paths: string[]) =>
  groupGgufFiles(files(...paths), "repository").map(({ stem, quantization, files: parts, mmproj }) => ({
    stem,
    quantization,
    parts: parts.length,
    mmproj: mmproj?.path,
  }));

describe("files that draft for the models beside them", () => {
  const groups = groupGgufFiles(
    files(
      "dspark-LFM2.5-1.2B-Q4_K_M.gguf",
      "LFM2.5-1.2B-Q4_K_M.gguf",
      "LFM2.5-1.2B-Q8_0.gguf",
      "mmproj-F16.gguf",
    ),
    "repository",
  );
  const chosen = (choice: string | undefined) =>
    chooseModel(groups, { repo: "o/m", choice, memoryBytes: 64e9 }).stem;

  test("are chosen by the names of their files only", () => {
    expect(chosen(undefined)).toBe("LFM2.5-1.2B-Q4_K_M");
    expect(chosen("Q4_K_M")).toBe("LFM2.5-1.2B-Q4_K_M");
    expect(chosen("dspark-LFM2.5-1.2B-Q4_K_M")).toBe("dspark-LFM2.5-1.2B-Q4_K_M");
    expect(groups.map((group) => choiceName(group, groups))).toEqual([
      "dspark-LFM2.5-1.2B-Q4_K_M",
      "Q4_K_M",
      "Q8_0",
    ]);
  });

  test("do not keep a projector from the models", () => {
    expect(groups.map(({ mmproj }) => mmproj?.path)).toContain("mmproj-F16.gguf");
  });

  test("are models like others in a repository of their own", () => {
    const alone = groupGgufFiles(files("eagle3-x-Q8_0.gguf", "eagle3-x-F16.gguf"), "repository");
    expect(chooseModel(alone, { repo: "o/m", choice: "Q8_0", memoryBytes: 64e9 }).stem).toBe("eagle3-x-Q8_0");
    expect(alone.map((group) => choiceName(group, alone))).toEqual(["Q8_0", "F16"]);
  });
});

describe("the quantization in a name", () => {
  test.each([
    ["LFM2-1.2B-Q4_K_M", "Q4_K_M"],
    ["tinyllama-1.1b-chat-v1.0-iq2_xxs", "IQ2_XXS"],
    ["model.Q8_0", "Q8_0"],
    ["Qwen3-30B-A3B-UD-Q4_K_XL", "UD-Q4_K_XL"],
    ["LFM2-350M-F16", "F16"],
    ["model-fp16", "F16"],
    ["gpt-oss-20b-MXFP4_MOE", "MXFP4_MOE"],
    ["Q4_K_M/model", "Q4_K_M"],
    ["BF16-to-Q5_K_S", "Q5_K_S"],
    ["just-a-model-7B", undefined],
    ["IQ-test", undefined],
  ])("%s is %s", (name, expected) => {
    expect(quantizationInName(name)).toBe(expected);
  });
});

describe("the models in a list of files", () => {
  test("are one per file", () => {
    expect(summary("a-Q4_K_M.gguf", "a-Q8_0.gguf", "README.md", "config.json")).toEqual([
      { stem: "a-Q4_K_M", quantization: "Q4_K_M", parts: 1, mmproj: undefined },
      { stem: "a-Q8_0", quantization: "Q8_0", parts: 1, mmproj: undefined },
    ]);
  });

  test("are grouped from their parts, in order", () => {
    const [group] = groupGgufFiles(
      files("x-Q8_0-00002-of-00002.gguf", "x-Q8_0-00001-of-00002.gguf"),
      "repository",
    );
    expect(group?.files.map(({ path }) => path)).toEqual([
      "x-Q8_0-00001-of-00002.gguf",
      "x-Q8_0-00002-of-00002.gguf",
    ]);
    expect(group).toMatchObject({ stem: "x-Q8_0", quantization: "Q8_0", sizeBytes: 3e9 });
  });

  test.each([
    [["x-00001-of-00002.gguf"]],
    [["x-00001-of-00002.gguf", "x-00003-of-00002.gguf"]],
    [["x-00000-of-00000.gguf"]],
  ])("do not include split ones with a missing part: %j", (names) => {
    expect(summary(...names)).toEqual([]);
  });

  test("have the projector of their folder, or else of the top, F16 first", () => {
    const found = summary(
      "m-Q4_K_M.gguf",
      "mmproj-m-F32.gguf",
      "mmproj-m-F16.gguf",
      "sub/n-Q8_0.gguf",
      "sub/n-mmproj.gguf",
    );
    expect(found.map(({ mmproj }) => mmproj)).toEqual(["mmproj-m-F16.gguf", "sub/n-mmproj.gguf"]);
  });

  test("do not include importance matrices", () => {
    expect(summary("imatrix.gguf", "model-imatrix.gguf")).toEqual([]);
  });
});

describe("the part names of a split model", () => {
  test("follow from any of them", () => {
    expect(partNames("x-00002-of-00002.gguf")).toEqual(["x-00001-of-00002.gguf", "x-00002-of-00002.gguf"]);
    expect(partNames("x.gguf")).toEqual(["x.gguf"]);
  });

  test.each(["x-00000-of-00002.gguf", "x-00003-of-00002.gguf", "x-00001-of-99999.gguf"])(
    "%s is none",
    (name) => {
      expect(() => partNames(name)).toThrow(expect.objectContaining({ code: "model_invalid" }));
    },
  );
});

describe("the chosen model", () => {
  const groups = groupGgufFiles(
    files("m-Q2_K.gguf", "m-Q4_K_M.gguf", "m-Q6_K.gguf", "m-F16.gguf"),
    "repository",
  );
  const chosen = (choice: string | undefined, memoryGb: number): string | undefined =>
    chooseModel(groups, { repo: "o/m", choice, memoryBytes: memoryGb * 1e9 }).quantization;

  test("is Q4_K_M by default if it fits", () => {
    expect(chosen(undefined, 64)).toBe("Q4_K_M");
  });

  test("is the best that fits if Q4_K_M does not fit or is missing", () => {
    expect(chosen(undefined, 2)).toBe("Q2_K");
    const without = groups.filter(({ quantization }) => quantization !== "Q4_K_M");
    expect(chooseModel(without, { repo: "o/m", choice: undefined, memoryBytes: 4.5e9 }).quantization).toBe(
      "Q6_K",
    );
  });

  test("is refused with the numbers if none fits", () => {
    expect(() => chosen(undefined, 1)).toThrow(
      expect.objectContaining({
        code: "out_of_memory",
        message: expect.stringMatching(/Q2_K, has 954 MiB.* 954 MiB/),
      }),
    );
  });

  test("is the named one, whatever the memory and the letter case", () => {
    expect(chosen("f16", 1)).toBe("F16");
    expect(chosen("M-Q6_K", 1)).toBe("Q6_K");
  });

  test("is refused with the available ones if it is missing", () => {
    expect(() => chosen("Q5_0", 64)).toThrow(
      expect.objectContaining({
        code: "model_not_found",
        message: expect.stringContaining("Q2_K, Q4_K_M, Q6_K, F16"),
      }),
    );
  });

  test("is named by its file if two share a quantization", () => {
    const twins = groupGgufFiles(files("a-Q4_K_M.gguf", "b-Q4_K_M.gguf"), "repository");
    const choose = (choice: string | undefined) =>
      chooseModel(twins, { repo: "o/m", choice, memoryBytes: 64e9 });
    for (const choice of [undefined, "Q4_K_M"])
      expect(() => choose(choice)).toThrow(expect.objectContaining({ code: "invalid_request" }));
    expect(choose("b-q4_k_m").stem).toBe("b-Q4_K_M");
    expect(twins.map((group) => choiceName(group, twins))).toEqual(["a-Q4_K_M", "b-Q4_K_M"]);
  });
});
