import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { ModelSettingsFile } from "@ingle/protocol";
import { afterEach, beforeEach, expect, it } from "vitest";
import { scriptedEngine, testWorld } from "../../../test/cli-context.ts";
import { main } from "../main.ts";

let home: string;
beforeEach(async () => {
  home = await mkdtemp(path.join(tmpdir(), "ingle-config-"));
});
afterEach(() => rm(home, { recursive: true }));

async function run(...args: string[]): Promise<{ code: number; out: string; err: string }> {
  const world = testWorld({ engine: scriptedEngine(), env: { INGLE_HOME: home } });
  const code = await main("ingle", ["config", ...args], world.context);
  return { code, out: world.out(), err: world.err() };
}

const file = (): string => path.join(home, "config", "models.jsonc");

it("sets, shows and removes settings, by short names and by places inside", async () => {
  const set = [
    ["context_length", "32768"],
    ["temperature", "0.3"],
    ["system_prompt", "7"], // a text, even if it looks like a number
    ["thinking_budget_tokens", "-1"],
    ["profiles.coding.temperature", "0"],
    ["profiles.coding.system_prompt", "You write TypeScript."],
    ["stop", '["END"]'],
  ];
  for (const [key = "", value = ""] of set) expect((await run("set", "daily", key, value)).code).toBe(0);
  await run("set", "*", "kv_bits", "8");
  expect(
    ModelSettingsFile.parse(JSON.parse((await readFile(file(), "utf8")).replace(/^\/\/.*/, ""))),
  ).toEqual({
    models: {
      daily: {
        context_length: 32_768,
        sampling: { temperature: 0.3, stop: ["END"] },
        system_prompt: "7",
        thinking_budget_tokens: -1,
        profiles: { coding: { sampling: { temperature: 0 }, system_prompt: "You write TypeScript." } },
      },
      "*": { kv_bits: 8 },
    },
  });
  expect(JSON.parse((await run("show", "daily")).out)).toMatchObject({ kv_bits: 8, context_length: 32_768 });
  expect(await run("show", "daily", "temperature")).toMatchObject({ code: 0, out: "0.3\n" });
  expect(await run("show", "daily", "system_prompt")).toMatchObject({ code: 0, out: "7\n" });
  expect((await run("unset", "daily", "temperature")).code).toBe(0);
  expect(await run("show", "daily", "temperature")).toMatchObject({
    code: 1,
    err: "ingle: daily has no setting temperature.\n",
  });
  expect((await run("unset", "daily")).code).toBe(0);
  expect(JSON.parse((await run("show")).out)).toEqual({ "*": { kv_bits: 8 } });
  expect(await run("unset", "daily")).toMatchObject({
    code: 1,
    err: expect.stringContaining("no settings of daily"),
  });
});

it("keeps comments", async () => {
  await run("set", "daily", "kv_bits", "8");
  await writeFile(file(), (await readFile(file(), "utf8")).replace('"daily"', '// mine\n    "daily"'));
  await run("set", "daily", "context_length", "64");
  expect(await readFile(file(), "utf8")).toMatch(
    /\/\/ mine\s+"daily": \{\s+"kv_bits": 8,\s+"context_length": 64\s+\}/,
  );
});

it("refuses what is wrong, changes nothing, and says so of names that no model has", async () => {
  expect(await run("set", "daily", "kv_bits", "7")).toMatchObject({
    code: 2,
    err: expect.stringContaining("at models.daily.kv_bits: kv_bits must be 16, 8, 4 or 3"),
  });
  expect((await run("set", "daily", "tempreature", "1")).code).toBe(2);
  expect(JSON.parse((await run("show")).out)).toEqual({});
  expect((await run("set", "daily", "kv_bits", "8")).err).toContain(
    "No model on this machine is called daily yet",
  );
  expect((await run("set", "da*", "kv_bits", "8")).err).toBe("");
});

it("takes over a Modelfile, and says what it leaves out", async () => {
  const modelfile = path.join(home, "Modelfile");
  await writeFile(
    modelfile,
    'FROM llama3.2\nPARAMETER num_ctx 8192\nPARAMETER stop "A"\nPARAMETER stop "B"\nTEMPLATE """{{ .Prompt }}"""\n',
  );
  const imported = await run("import", modelfile, "daily");
  expect(imported.code).toBe(0);
  expect(imported.err).toContain("daily: context_length = 8192\n");
  expect(imported.err).toContain("left out: template is a Go template;");
  const settings = { context_length: 8192, sampling: { stop: ["A", "B"] } };
  expect(JSON.parse((await run("show", "daily")).out)).toEqual(settings);
  await run("import", modelfile);
  expect(JSON.parse((await run("show")).out)).toEqual({ daily: settings, "llama3.2": settings });
  await writeFile(modelfile, "FROM llama3.2\n");
  expect(await run("import", modelfile)).toMatchObject({
    code: 1,
    err: expect.stringContaining("has no setting"),
  });
  expect((await run("import", path.join(home, "none"))).err).toContain("cannot be read");
});

it("prints a schema that editors understand", async () => {
  const { out } = await run("schema");
  expect(JSON.parse(out)).toMatchObject({ $defs: { ModelSettings: { additionalProperties: false } } });
});
