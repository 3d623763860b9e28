// A GPU that is lost while it computes, as after a driver's reset: requests end with an error, and the process survives.
import { EngineError, load } from "@ingle/engine";
import { tinyModel } from "@ingle/fixtures";
import { describe, expect, it } from "vitest";
import { canFail, lostDevice } from "./device.ts";
import { within } from "./tiny.ts";

async function codeOf(promise: PromiseLike<unknown>): Promise<string> {
  try {
    await within(20_000, promise);
    return "no error";
  } catch (error) {
    return EngineError.is(error) ? error.code : String(error);
  }
}

describe.runIf(canFail)("a lost GPU", () => {
  it("ends running requests and refuses new ones with `engine_failed`, and the model can be disposed", async () => {
    const loaded = await load(await tinyModel(), { threads: 1, contextLength: 1024, parallel: 4 });
    const { model } = loaded;
    expect((await model.generate({ prompt: "Before", maxTokens: 4 })).text).not.toBe("");
    const running = model.generate({ prompt: "Running", maxTokens: 900 });
    for await (const _ of running) break;
    await using _ = await lostDevice();
    const during = model.generate({ prompt: "During", maxTokens: 900 });
    expect(await codeOf(during)).toBe("engine_failed");
    expect(await codeOf(model.embed(["a text"]))).toBe("engine_failed");
    await within(20_000, loaded[Symbol.asyncDispose]());
  });
});
