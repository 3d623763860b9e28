// A download whose process is killed again and again. The processes run the build in dist/.
import { spawn } from "node:child_process";
import { createHash, randomBytes } from "node:crypto";
import { mkdtemp, readdir, readFile, rm, utimes } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, expect, test } from "vitest";
import { FakeHub } from "@ingle/fixtures/fake-hub";

const script = fileURLToPath(new URL("pull-once.js", import.meta.url));
const bytes = randomBytes(32 * 1024 * 1024);
const kills = 20;

let home: string;
let hub: FakeHub;

beforeEach(async () => {
  home = await mkdtemp(path.join(tmpdir(), "ingle-kill-"));
  hub = await FakeHub.start({ repo: "acme/big-GGUF", files: { "big-Q4_K_M.gguf": bytes } });
});

afterEach(async () => {
  await hub[Symbol.asyncDispose]();
  await rm(home, { recursive: true });
});

function start() {
  const env = { PATH: process.env["PATH"], HOME: home, INGLE_HOME: home, HF_ENDPOINT: hub.url };
  const child = spawn(process.execPath, [script, "acme/big-GGUF:Q4_K_M"], { env, timeout: 60_000 });
  let output = "";
  child.stdout.on("data", (data: Buffer) => (output += data.toString()));
  child.stderr.on("data", (data: Buffer) => (output += data.toString()));
  const ended = new Promise<string>((resolve) => child.once("close", () => resolve(output)));
  return { child, ended };
}

/** Ages the locks that a killed process left, as if some time had passed before the next start. */
async function letLocksAge(folder: string): Promise<void> {
  const aMinuteAgo = Date.now() / 1000 - 60;
  for (const name of await readdir(folder).catch(() => []))
    if (name.endsWith(".lock")) await utimes(path.join(folder, name), aMinuteAgo, aMinuteAgo);
}

test("a download killed 20 times at random points is resumed at each start and ends with the right checksum", async () => {
  hub.slowly = { bytes: 32 * 1024, delayMs: 8 };
  let killed = 0;
  let round = 0;
  for (; killed < kills && round < 3 * kills; round += 1) {
    const sent = hub.bytesSent;
    const { child, ended } = start();
    const gone = ended.then(() => "ended" as const);
    // Kill after a random number of bytes of this start, so that every start makes progress.
    const enough = sent + 1 + Math.floor(Math.random() * 2_000_000);
    while (hub.bytesSent < enough && child.exitCode === null) await Promise.race([gone, sleep(2)]);
    if (child.exitCode !== null) break;
    child.kill("SIGKILL");
    await gone;
    killed += 1;
    await letLocksAge(path.join(home, "downloads"));
    await letLocksAge(home);
  }
  expect(killed).toBe(kills);
  const sentToKilled = hub.bytesSent;
  hub.slowly = { bytes: 0, delayMs: 0 };
  const output = await start().ended;
  const file = path.join(home, "models/acme/big-GGUF/big-Q4_K_M.gguf");
  expect(output).toBe(`started\n${file}\n`);
  const digest = createHash("sha256")
    .update(await readFile(file))
    .digest("hex");
  expect(digest).toBe(createHash("sha256").update(bytes).digest("hex"));
  expect(await readdir(path.join(home, "downloads"))).toEqual([]);
  // A start that did not resume would have downloaded everything again.
  const sentTwice = hub.bytesSent - bytes.length;
  expect(sentTwice).toBeLessThan(sentToKilled * 0.6);
}, 120_000);
