import { Command } from "commander";
import { expect, it } from "vitest";
import { resolveConfig } from "../config.ts";
import { parseServeFlags } from "./flags.ts";

const asker = new Command("ingle").exitOverride();
const resolveEngine = (args: string, env: NodeJS.ProcessEnv = {}) =>
  resolveConfig({ flags: parseServeFlags(args.split(" ").filter(Boolean), asker), env }).engine;

it("the opposite of a switch overrides its variable", () => {
  const env = { INGLE_NO_MMAP: "1", INGLE_NO_KV_OFFLOAD: "1", INGLE_NO_KV_UNIFIED: "1", INGLE_MLOCK: "1" };
  const switches = { noMmap: true, noKvOffload: true, noKvUnified: true, mlock: true };
  expect(resolveEngine("", env)).toMatchObject(switches);
  expect(resolveEngine("--mmap --kv-offload --kv-unified --no-mlock", env)).toMatchObject({
    noMmap: false,
    noKvOffload: false,
    noKvUnified: false,
    mlock: false,
  });
});

it("of a switch and its opposite, the last one counts", () => {
  expect(resolveEngine("--mmap --no-mmap").noMmap).toBe(true);
  expect(resolveEngine("--no-mmap --mmap").noMmap).toBe(false);
});

it("a switch that is not given leaves the choice to the engine", () => {
  expect(resolveEngine("").noKvUnified).toBeUndefined();
  expect(resolveEngine("--kv-unified").noKvUnified).toBe(false);
});
