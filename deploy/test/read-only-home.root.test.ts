// A home on a read-only disk, as in a container whose root may not be written: a mount, which needs root. What only reads works, and what
// would write says why it cannot.
import { execFileSync, spawn, spawnSync } from "node:child_process";
import { copyFile, mkdir, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { RunningProgram, tinyModel } from "@ingle/fixtures";
import { afterAll, beforeAll, expect, it } from "vitest";
import { ingleProgram } from "./ingle-program.ts";

const startLimitMs = 60_000;
const stopLimitMs = 20_000;
const readOnly = "its disk is read-only";

let home = "";
let env: NodeJS.ProcessEnv = {};
beforeAll(async () => {
  home = await mkdtemp(path.join(tmpdir(), "ingle-read-only-"));
  env = { PATH: process.env["PATH"], INGLE_HOME: home };
  await mkdir(path.join(home, "models"));
  await copyFile(await tinyModel({ weights: "f32" }), path.join(home, "models", "tiny.gguf"));
  execFileSync("mount", ["--bind", home, home]);
  execFileSync("mount", ["-o", "remount,ro,bind", home]);
});
afterAll(async () => {
  execFileSync("umount", [home]);
  await rm(home, { recursive: true });
});

function ingle(...args: string[]): { status: number | null; stdout: string; stderr: string } {
  return spawnSync(process.execPath, [ingleProgram, ...args], { env, encoding: "utf8" });
}

it("lists its models, and runs them", () => {
  expect(ingle("list")).toMatchObject({ status: 0, stdout: expect.stringContaining("tiny") });
  const ran = ingle("run", "tiny", "Hello", "--max-tokens", "4");
  expect([ran.status, ran.stderr]).toEqual([0, expect.not.stringContaining("EROFS")]);
});

it.each([
  [["config", "set", "tiny", "temperature", "0.3"], readOnly],
  [["keys", "add", "KEYS", "me"], readOnly],
  [["import", "MODEL"], "(EROFS). Set INGLE_HOME to a folder of your own."],
  [["quantize", "tiny", "--to", "q8_0"], "(EROFS). Choose a folder of your own for the new file."],
])("%j says why it cannot write", async (command, why) => {
  const places: Record<string, string> = {
    KEYS: path.join(home, "keys.json"),
    MODEL: await tinyModel({ weights: "f32", seed: 2 }),
  };
  const { status, stderr } = ingle(...command.map((part) => places[part] ?? part));
  expect(stderr).toContain(why);
  expect(status).toBeGreaterThan(0);
});

it.each([
  ["serve", 0],
  ["app", 1],
])("ingle %s answers, and says what it does not keep", async (command, warnings) => {
  const args = [command, "--port", "0", ...(command === "app" ? ["--no-open"] : ["--model", "tiny"])];
  const child = spawn(process.execPath, [ingleProgram, ...args], { env, stdio: ["ignore", "pipe", "pipe"] });
  const server = new RunningProgram("ingle", child);
  await server.written("http://127.0.0.1:", startLimitMs);
  expect(server.stderr.split(readOnly)).toHaveLength(1 + warnings);
  const [, url, token] = /(http:\/\/127\.0\.0\.1:\d+)\/?(?:\?token=(\S+))?/.exec(server.stdout) ?? [];
  const send = async (method: string, route: string, body: BodyInit, type?: string): Promise<unknown> => {
    const headers = {
      ...(type === undefined ? {} : { "content-type": type }),
      ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
    };
    return (await fetch(`${url}${route}`, { method, headers, body })).json();
  };
  const json = "application/json";
  const prompt = JSON.stringify({ model: "tiny", prompt: "Hello", max_tokens: 4 });
  expect(await send("POST", "/v1/completions", prompt, json)).toMatchObject({ object: "text_completion" });
  const refused = { error: { code: "not_enabled", message: expect.stringContaining(readOnly) } };
  const file = new FormData();
  file.append("purpose", "batch");
  file.append("file", new Blob(["{}"]), "in.jsonl");
  const settings = JSON.stringify({ sampling: { temperature: 0.3 } });
  expect(await send("PUT", "/api/v1/models/tiny/settings", settings, json)).toMatchObject(refused);
  if (command === "serve") expect(await send("POST", "/v1/files", file)).toMatchObject(refused);
  expect(await server.stop("SIGTERM", stopLimitMs)).toBe(0);
});
