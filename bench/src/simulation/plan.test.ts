import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { readPlan } from "./plan.ts";

let folder: string;
const service = {
  parallel: 2,
  kvTokens: 4096,
  decodeSteps: [{ replies: 1, ms: 9 }],
  promptTokenMs: 1,
  requestMs: 2,
};
const autoscaling = { minReplicas: 1, maxReplicas: 4, waitingPerReplica: 4, kvUsagePercent: 80 };
const plan = {
  about: "a test",
  service: "service.json",
  workload: { conversationsPerHour: 10, bursts: { everyHours: 3, minutes: 10, factor: 2 } },
  cluster: { coldStartSeconds: 30, autoscaling },
  rows: [
    { name: "as it is" },
    { name: "more", workload: { bursts: { everyHours: 3, minutes: 10, factor: 9 } } },
  ],
};

beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), "ingle-plan-"));
  await writeFile(path.join(folder, "service.json"), JSON.stringify(service));
});
afterAll(() => rm(folder, { recursive: true }));

async function read(text: string) {
  const file = path.join(folder, "plan.json");
  await writeFile(file, text);
  return await readPlan(file);
}

describe("a plan", () => {
  it("has rows that change some of its settings, and defaults for the others", async () => {
    const { rows } = await read(
      JSON.stringify({
        ...plan,
        rows: [
          ...plan.rows,
          { name: "fast start", cluster: { coldStartSeconds: 5, autoscaling: { inFlightPerReplica: 3 } } },
        ],
      }),
    );
    expect(rows.map(({ workload }) => workload.bursts.factor)).toEqual([2, 9, 2]);
    expect(rows.map(({ cluster }) => cluster.coldStartSeconds)).toEqual([30, 30, 5]);
    expect(rows[2]?.cluster.autoscaling).toMatchObject({
      ...autoscaling,
      inFlightPerReplica: 3,
      syncSeconds: 15,
    });
    expect(rows[0]?.cluster).toMatchObject({ routing: "session", waitingMax: 256 });
  });

  it.each([
    ["no JSON", "{", "is not JSON"],
    ["no rows", JSON.stringify({ ...plan, rows: [] }), "rows"],
    [
      "a field that there is not",
      JSON.stringify({ ...plan, rows: [{ name: "odd", cluster: { speed: 3 } }] }),
      '"odd", cluster',
    ],
    ["no service times", JSON.stringify({ ...plan, service: "nowhere.json" }), "holds no service times"],
    [
      "more replicas at least than at most",
      JSON.stringify({ ...plan, rows: [{ name: "odd", cluster: { autoscaling: { minReplicas: 9 } } }] }),
      "minReplicas is larger",
    ],
    [
      "nothing to decide by",
      JSON.stringify({
        ...plan,
        cluster: { autoscaling: { ...autoscaling, waitingPerReplica: 0, kvUsagePercent: 0 } },
      }),
      "no metric decides",
    ],
  ])("is refused with %s", async (_, text, reason) => {
    await expect(read(text)).rejects.toThrow(reason);
  });
});
