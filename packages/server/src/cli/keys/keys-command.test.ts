import { mkdtemp, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { KeyFile, matchesKey } from "../../access/key-file.ts";
import { testWorld } from "../../../test/cli-context.ts";
import { main } from "../main.ts";

let file: string;
beforeEach(async () => {
  file = path.join(await mkdtemp(path.join(tmpdir(), "ingle-keys-")), "team.json");
});
afterEach(() => rm(path.dirname(file), { recursive: true }));

async function run(command: string, ...args: string[]): Promise<{ code: number; out: string; err: string }> {
  const world = testWorld();
  const code = await main("ingle", ["keys", command, file, ...args], world.context);
  return { code, out: world.out(), err: world.err() };
}

async function entries(): Promise<KeyFile["keys"]> {
  return KeyFile.parse(JSON.parse(await readFile(file, "utf8"))).keys;
}

it("makes a key with limits, which is only printed, in a file of its user's own", async () => {
  const limits = [
    "--models",
    "lfm2*,own",
    "--tokens-per-day",
    "1000000",
    "--priority",
    "low",
    "--expires",
    "2027-01-31",
  ];
  const made = await run("add", "reports", ...limits);
  expect([made.code, made.out]).toEqual([0, expect.stringMatching(/^sk-ingle-[\w-]+\n$/)]);
  const [entry] = await entries();
  expect(entry).toMatchObject({
    name: "reports",
    scope: "inference",
    models: ["lfm2*", "own"],
    tokens_per_day: 1_000_000,
    priority: "low",
    expires_at: "2027-01-31T00:00:00.000Z",
  });
  expect(entry !== undefined && (await matchesKey(entry, made.out.trim()))).toBe(true);
  expect((await stat(file)).mode & 0o777).toBe(0o600);
  expect(await readFile(file, "utf8")).not.toContain(made.out.trim());
});

it("keeps every key of several that are made at the same time", async () => {
  const names = ["a", "b", "c", "d", "e", "f"];
  const made = await Promise.all(names.map(async (name) => await run("add", name)));
  expect(made.map(({ code }) => code)).toEqual(names.map(() => 0));
  expect((await entries()).map(({ name }) => name).toSorted()).toEqual(names);
});

it("lists keys without revealing them, and revokes them by name", async () => {
  expect(await run("list")).toMatchObject({ code: 0, out: "", err: expect.stringContaining("holds no key") });
  await run("add", "reports", "--parallel-requests", "2");
  await run("add", "boss", "--scope", "management");
  const [reports, boss] = await entries();
  expect((await run("list")).out).toBe(
    `NAME     KEY    SCOPE       LIMITS\n` +
      `reports  …${reports?.ending}  inference   2 at a time\n` +
      `boss     …${boss?.ending}  management  none\n`,
  );
  expect(await run("revoke", "reports")).toMatchObject({ code: 0, out: "Revoked reports.\n" });
  expect((await entries()).map(({ name }) => name)).toEqual(["boss"]);
});

it.each([
  [["add", "reports"], 1, "There is a key of the name reports already"],
  [["add", "other", "--expires", "soon"], 2, "--expires takes a number of days such as 30d"],
  [
    ["add", "other", "--scope", "management", "--models", "a"],
    2,
    "a management key may load and remove every model",
  ],
  [["add", "other", "--tokens-per-day", "0"], 2, "at least 1"],
  [["revoke", "reports", "nobody"], 1, "holds no key of the name nobody"],
])("changes nothing for %j", async ([command = "", ...args], code, sentence) => {
  await run("add", "reports");
  const before = await readFile(file, "utf8");
  const refused = await run(command, ...args);
  expect(refused).toMatchObject({ code, out: "", err: expect.stringContaining(sentence) });
  expect(await readFile(file, "utf8")).toBe(before);
});

it("leaves a file alone that is none of its own", async () => {
  await writeFile(file, "my keys");
  expect(await run("add", "reports")).toMatchObject({
    code: 1,
    err: expect.stringContaining("cannot be used"),
  });
  expect(await readFile(file, "utf8")).toBe("my keys");
});
