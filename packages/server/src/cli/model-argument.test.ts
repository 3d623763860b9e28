import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { scriptedEngine, testWorld } from "../../test/cli-context.ts";
import { chooseModel } from "./model-argument.ts";

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), "ingle-model-argument-"));
  await writeFile(path.join(folder, "mine.gguf"), "");
});
afterAll(() => rm(folder, { recursive: true }));

describe("chooseModel", () => {
  it("means the starter model when nothing is said", async () => {
    const { context } = testWorld({ engine: scriptedEngine() });
    const choice = await chooseModel({ model: undefined, offline: false }, context);
    expect(choice).toMatchObject({ kind: "npm", id: "tinyllama-1.1b-chat" });
  });

  it("asks the library for everything else, and says whether the network may be used", async () => {
    const asked: unknown[] = [];
    const engine = scriptedEngine();
    const locateModel: typeof engine.locateModel = async (model, options) => {
      asked.push(model, options?.isOffline, options?.env);
      return engine.locateModel(model, options);
    };
    const { context } = testWorld({ engine: { ...engine, locateModel }, env: { HF_TOKEN: "x" } });
    const file = path.join(folder, "mine.gguf");
    const choice = await chooseModel({ model: file, offline: true }, context);
    expect(choice).toEqual({ kind: "here", id: "mine", path: file, isListed: false });
    expect(asked).toEqual([file, true, { HF_TOKEN: "x" }]);
  });
});
