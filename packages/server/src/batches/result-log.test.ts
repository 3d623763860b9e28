import { appendFile, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import type { BatchResult } from "@ingle/protocol";
import { afterEach, beforeEach, expect, it } from "vitest";
import { ResultLog } from "./result-log.ts";

let folder: string;
let file: string;
beforeEach(async () => {
  folder = await mkdtemp(path.join(tmpdir(), "ingle-log-"));
  file = path.join(folder, "below", "out.jsonl");
});
afterEach(() => rm(folder, { recursive: true }));

const result = (custom_id: string): BatchResult => ({
  id: `batch_req_${custom_id}`,
  custom_id,
  response: { status_code: 200, request_id: "r", body: { text: "ü".repeat(50_000) } },
  error: null,
});

async function idsIn(name: string): Promise<unknown[]> {
  const ids: unknown[] = [];
  await using _log = await ResultLog.open(name, ({ custom_id }) => ids.push(custom_id));
  return ids;
}

it("has every result after it is opened again, also those that were appended together", async () => {
  {
    await using log = await ResultLog.open(file, () => {});
    await log.append(result("a"));
    await Promise.all(["b", "c", "d"].map((id) => log.append(result(id))));
  }
  expect(await idsIn(file)).toEqual(["a", "b", "c", "d"]);
});

it("removes a last line that a killed process has not finished, wherever it was cut", async () => {
  const whole = `${JSON.stringify(result("a"))}\n`;
  const next = JSON.stringify(result("b"));
  for (const cut of [1, 10, 40, next.length]) {
    const name = path.join(folder, `${cut}.jsonl`);
    await writeFile(name, whole + next.slice(0, cut));
    expect(await idsIn(name)).toEqual(["a"]);
    expect(await readFile(name, "utf8")).toBe(whole);
  }
});

it.each(["notes of a person", "notes\n", `{"id":"other"}\n`, '{"custom_id":'])(
  "leaves a file of something else as it is: %j",
  async (text) => {
    const name = path.join(folder, "notes.txt");
    await appendFile(name, text);
    await expect(ResultLog.open(name, () => {})).rejects.toThrow("no results of a batch");
    expect(await readFile(name, "utf8")).toBe(text);
  },
);
