// A server whose response store is on a full disk: a disk of one megabyte, which needs root.
import { execFileSync, spawn } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { tinyModel } from "@ingle/fixtures";
import { afterEach, beforeEach, expect, it } from "vitest";
import { RunningProgram } from "@ingle/fixtures";
import { ingleProgram } from "./ingle-program.ts";

const startLimitMs = 60_000;
const stopLimitMs = 20_000;
/** Far more responses than fit. */
const responsesMax = 200;

let disk = "";
let home = "";
let model = "";
beforeEach(async () => {
  model = await tinyModel({ weights: "f32" });
  disk = await mkdtemp(path.join(tmpdir(), "ingle-full-disk-"));
  home = await mkdtemp(path.join(tmpdir(), "ingle-full-disk-home-"));
  execFileSync("mount", ["-t", "tmpfs", "-o", "size=1m", "ingle-full-disk", disk]);
});
afterEach(async () => {
  execFileSync("umount", [disk]);
  for (const folder of [disk, home]) await rm(folder, { recursive: true });
});

interface Served {
  process: RunningProgram;
  url: string;
}

async function serve(): Promise<Served> {
  const store = path.join(disk, "responses.db");
  const args = ["serve", "--model", model, "--port", "0", "--ctx", "2048", "--response-store", store];
  const env = { PATH: process.env["PATH"], INGLE_HOME: home };
  const child = spawn(process.execPath, [ingleProgram, ...args], { env, stdio: ["ignore", "pipe", "pipe"] });
  const server = new RunningProgram("ingle", child);
  await server.written("/v1", startLimitMs);
  const url = /http:\/\/127\.0\.0\.1:\d+/.exec(server.stdout)?.[0];
  if (url === undefined) throw server.failure("printed no address");
  return { process: server, url };
}

/** Stores a response of some kilobytes. */
async function respond(url: string): Promise<Response> {
  const input = "A long question. ".repeat(300);
  const body = JSON.stringify({ model: path.basename(model, ".gguf"), input, max_output_tokens: 1 });
  return fetch(`${url}/v1/responses`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body,
  });
}

it("is a typed error that names the disk; the end is clean, and nothing that was stored is lost", async () => {
  const first = await serve();
  const stored: string[] = [];
  let failed: Response | undefined;
  for (let count = 0; failed === undefined && count < responsesMax; count += 1) {
    const response = await respond(first.url);
    if (response.status !== 200) failed = response;
    else stored.push(((await response.json()) as { id: string }).id);
  }
  expect(stored.length).toBeGreaterThan(0);
  expect(failed?.status).toBe(507);
  expect(failed?.headers.get("x-should-retry")).toBe("false");
  const message = expect.stringContaining(
    `The disk under ${disk}, where --response-store keeps responses, is full.`,
  );
  expect(await failed?.json()).toMatchObject({ error: { code: "disk_full", message } });
  expect(await first.process.stop("SIGTERM", stopLimitMs)).toBe(0);
  expect(first.process.stderr).not.toContain("bug");

  execFileSync("mount", ["-o", "remount,size=8m", disk]);
  const second = await serve();
  for (const id of stored) {
    const response = await fetch(`${second.url}/v1/responses/${id}`);
    expect([id, response.status]).toEqual([id, 200]);
  }
  expect((await respond(second.url)).status).toBe(200);
  expect(await second.process.stop("SIGTERM", stopLimitMs)).toBe(0);
});
