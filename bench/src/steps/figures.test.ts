import { expect, it } from "vitest";
import { phaseNames, readStepTotals, stepFigures } from "./figures.ts";

const scrape = (times: number): string => `# HELP ingle_engine_turns_total Engine steps: one batch each.
# TYPE ingle_engine_turns_total counter
ingle_engine_turns_total ${10 * times}
ingle_generated_tokens_total ${40 * times}
ingle_graphs_built_total ${2 * times}
ingle_output_bytes_total ${5000 * times}
ingle_device_seconds_total ${0.25 * times}
ingle_step_seconds_total{phase="graph"} ${0.02 * times}
ingle_step_seconds_total{phase="launch"} ${0.3 * times}
ingle_requests_running 4
`;

it("tells one step's time by phase, its tokens, graphs and bytes, from the counters of two scrapes", () => {
  const figures = stepFigures(readStepTotals(scrape(1)), readStepTotals(scrape(3)));
  expect(figures).toMatchObject({ steps: 20, tokens: 4, graphsPerThousand: 200, bytes: 500 });
  expect(figures.ms).toBeCloseTo(32);
  expect(figures.phaseMs.graph).toBeCloseTo(2);
  expect(figures.phaseMs.launch).toBeCloseTo(30);
  expect(figures.deviceMs).toBeCloseTo(25);
  expect(phaseNames.filter((phase) => figures.phaseMs[phase] > 0)).toEqual(["graph", "launch"]);
});

it("knows all phases that a server names", () => {
  const { seconds } = readStepTotals(
    phaseNames.map((name) => `ingle_step_seconds_total{phase="${name}"} 1`).join("\n"),
  );
  expect(Object.values(seconds)).toEqual(phaseNames.map(() => 1));
});
