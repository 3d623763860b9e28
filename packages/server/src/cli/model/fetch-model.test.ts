import { expect, it } from "vitest";
import { testWorld } from "../../../test/cli-context.ts";
import { conversionText, PhaseBars } from "./fetch-model.ts";

it("has a line for each pair of formats with its error, and one for dropped tensors", () => {
  const exact = { inSteps: 0, largest: 0 };
  const text = conversionText({
    steps: [
      {
        from: "affine 8-bit, groups of 64",
        to: "Q8_0",
        tensors: 57,
        bytes: 2 ** 24,
        error: { inSteps: 0.2366, largest: 0.0012 },
      },
      { from: "BF16", to: "F32", tensors: 1, bytes: 1024, error: exact },
    ],
    unused: ["vision_tower.weight", "vision_tower.bias"],
    bytes: 2 ** 24 + 4096,
  });
  expect(text.split("\n")).toEqual([
    "  affine 8-bit, groups of 64 → Q8_0  57 tensors, 16 MiB, error 0.24 of the source's step (root mean square), at most 0.0012",
    "  BF16 → F32                         1 tensor, 1 KiB, exact",
    "  2 tensors that the text model does not use were dropped.",
    "",
  ]);
});

it("verifies a folder on this machine without speaking of a download", () => {
  const { context, err } = testWorld();
  using bars = new PhaseBars("./models/tiny-mlx", context);
  bars.update({ phase: "verify", bytes: 1, totalBytes: 2 });
  expect(err()).toContain("Verifying ./models/tiny-mlx");
  expect(err()).not.toContain("download");
});
