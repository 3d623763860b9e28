import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { CliError } from "./cli-error.ts";
import { chooseModel } from "./model-argument.ts";

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), "ingle-model-argument-"));
  await writeFile(path.join(folder, "Some Model.Q4_K_M.gguf"), "");
  await writeFile(path.join(folder, "LOUD.GGUF"), "");
  await writeFile(path.join(folder, "notes.txt"), "");
  await writeFile(path.join(folder, ".gguf"), "");
});
afterAll(() => rm(folder, { recursive: true }));

const refusal = async (argument: string): Promise<string> => {
  const error: unknown = await chooseModel(argument, "starter").catch((thrown: unknown) => thrown);
  if (!(error instanceof CliError)) throw new Error(`${argument} was not refused`);
  expect(error.exitCode).toBe(1);
  return error.message;
};

describe("chooseModel", () => {
  it("means the starter model when nothing is said, and by its id", async () => {
    expect(await chooseModel(undefined, "starter")).toEqual({ kind: "starter", id: "starter" });
    expect(await chooseModel("starter", "starter")).toEqual({ kind: "starter", id: "starter" });
  });

  it("serves a file under its name without .gguf", async () => {
    const file = path.join(folder, "Some Model.Q4_K_M.gguf");
    expect(await chooseModel(file, "starter")).toEqual({ kind: "file", id: "Some Model.Q4_K_M", file });
    expect(await chooseModel(path.join(folder, "LOUD.GGUF"), "starter")).toMatchObject({ id: "LOUD" });
  });

  it("takes a path relative to the folder one stands in", async () => {
    const relative = path.relative(process.cwd(), path.join(folder, "LOUD.GGUF"));
    expect(await chooseModel(relative, "starter")).toMatchObject({ file: path.join(folder, "LOUD.GGUF") });
  });

  it("refuses everything else and says what is possible", async () => {
    expect(await refusal(path.join(folder, "missing.gguf"))).toContain("There is no file");
    expect(await refusal(path.join(folder, "notes.txt"))).toContain("not named like a GGUF file");
    expect(await refusal(path.join(folder, ".gguf"))).toContain("not named like a GGUF file");
    expect(await refusal(folder)).toContain("is a folder");
    const unknown = await refusal("someone/some-model");
    expect(unknown).toContain('There is no model called "someone/some-model" here.');
    expect(unknown).toContain('"starter"');
  });
});
