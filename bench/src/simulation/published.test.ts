// Recomputes the service times used by the plans in bench/simulations from the published report.
import { readFile } from "node:fs/promises";
import path from "node:path";
import { expect, it } from "vitest";
import { z } from "zod";
import { median } from "../statistics.ts";
import { resultsFolder, workspaceFolder } from "../workspace.ts";
import { readPlan } from "./plan.ts";
import { readServiceTimes, fitServiceTimes } from "./service-times.ts";
import { simulate } from "./simulation.ts";
import { Conversations } from "./workload.ts";

const plans = path.join(workspaceFolder, "bench", "simulations");
const serviceFile = path.join(plans, "tinyllama-epyc-2-cores.json");

const Report = z.object({
  results: z.array(
    z.object({
      scenario: z.string(),
      case: z.string(),
      subject: z.string(),
      requests: z.array(
        z.object({
          ttftMs: z.number().optional(),
          computedTokens: z.number().optional(),
          gapP50Ms: z.number().optional(),
        }),
      ),
    }),
  ),
});

it("the service times of the plans are those of the report that they name", async () => {
  const service = await readServiceTimes(serviceFile);
  const report = path.join(resultsFolder, path.basename(String(service.about["report"])));
  const { results } = Report.parse(JSON.parse(await readFile(report, "utf8")));
  const findRequests = (scenario: string, name: string) =>
    results
      .filter((one) => one.subject === "ingle" && one.scenario === scenario && one.case === name)
      .flatMap(({ requests }) => requests);
  const alone = [...findRequests("single", "one client"), ...findRequests("multi-turn", "one chat")];
  const crowds = [
    [1, findRequests("single", "one client")],
    [
      3,
      findRequests("mixed", "3 streams and a long prompt").filter(
        ({ computedTokens }) => computedTokens === 0,
      ),
    ],
    [8, findRequests("parallel", "8 clients")],
  ] as const;
  const computed = fitServiceTimes(service, {
    prompts: alone.map(({ computedTokens = 0, ttftMs = 0 }) => ({
      promptTokens: computedTokens,
      firstMs: ttftMs,
    })),
    // The step time is the median gap between tokens.
    replies: crowds.map(([replies, requests]) => ({
      replies,
      tokens: 2,
      firstMs: 0,
      totalMs: median(requests.map(({ gapP50Ms = 0 }) => gapP50Ms)),
    })),
  });
  expect(service.promptTokenMs).toBeCloseTo(computed.promptTokenMs, 2);
  expect(service.requestMs).toBeCloseTo(computed.requestMs, 0);
  expect(service.decodeSteps.map(({ replies }) => replies)).toEqual([1, 3, 8]);
  for (const [index, { ms }] of service.decodeSteps.entries())
    expect(ms).toBeCloseTo(computed.decodeSteps[index]?.ms ?? 0, 1);
});

it.each(["autoscaling", "routing", "thousand-replicas"])("the plan %s can be read", async (name) => {
  const { rows } = await readPlan(path.join(plans, `${name}.json`));
  expect(rows.length).toBeGreaterThan(0);
});

it("scaling on requests in flight, too, makes people wait less for fewer replica hours", async () => {
  const { rows, service } = await readPlan(path.join(plans, "autoscaling.json"));
  const played = ["waiting 4, KV use 80 %", "and in flight 6"].map((name) => {
    const row = rows.find((one) => one.name === name);
    if (row === undefined) throw new Error(`The plan has no row "${name}".`);
    // Until the evening, after the busiest hours.
    return simulate({
      service,
      rules: row.cluster,
      source: new Conversations({ ...row.workload, hours: 17 }),
    });
  });
  const [without, withIt] = played;
  expect(withIt?.waited.percentile(95)).toBeLessThan((without?.waited.percentile(95) ?? 0) / 2);
  expect(withIt?.replicaHours).toBeLessThan(without?.replicaHours ?? 0);
});
