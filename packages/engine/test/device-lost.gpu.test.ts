// A GPU that is lost while it computes, as after a driver's reset: requests end with an error, and the process survives.
import { EngineError, load } from "@ingle/engine";
import { tinyModel, tinyVisionModel } from "@ingle/fixtures";
import { describe, expect, it } from "vitest";
import { canFail, lostDevice } from "./device.ts";
import { anAudio, anImage, within } from "./tiny.ts";

async function rejectionCode(promise: PromiseLike<unknown>): Promise<string> {
  try {
    await within(20_000, promise);
    return "no error";
  } catch (error) {
    return EngineError.is(error) ? error.code : String(error);
  }
}

describe.runIf(canFail)("a GPU that is lost", () => {
  // Some submissions only copy: the first failure is not always that of the same call.
  it.each([0, 1, 2, 3, 5, 8])(
    "after %i more submissions ends requests with `engine_failed`, and the model can be disposed",
    async (submissions) => {
      const loaded = await load(await tinyModel(), { threads: 1, contextLength: 1024, parallel: 4 });
      const { model } = loaded;
      expect((await model.generate({ prompt: "Before", maxTokens: 4 })).text).not.toBe("");
      const running = model.generate({ prompt: "Running", maxTokens: 900 });
      await running[Symbol.asyncIterator]().next();
      await using _ = await lostDevice(submissions);
      const during = model.generate({ prompt: "During", maxTokens: 900 });
      expect(await rejectionCode(running)).toBe("engine_failed");
      expect(await rejectionCode(during)).toBe("engine_failed");
      expect(await rejectionCode(model.embed(["a text"]))).toBe("engine_failed");
      await within(20_000, loaded[Symbol.asyncDispose]());
    },
  );

  it.each([
    ["image", anImage()],
    ["audio", anAudio()],
  ] as const)("while it encodes an %s ends that request with `engine_failed` too", async (__, part) => {
    const { model: file, projector } = await tinyVisionModel({ architecture: "qwen2vl", audio: "qwen2a" });
    const loaded = await load(file, { threads: 1, contextLength: 2048, mmproj: projector });
    const ask = () => loaded.model.generate({ messages: [{ role: "user", content: [part] }], maxTokens: 4 });
    await using _ = await lostDevice(0);
    expect(await rejectionCode(ask())).toBe("engine_failed");
    await within(20_000, loaded[Symbol.asyncDispose]());
  });
});
