// `busy`: the same as `single` and `parallel` while another process burns one core. The slowdown should be proportional.
import { startProgram } from "../child-process.ts";
import {
  charted,
  higherIsBetter,
  serverSubjects,
  type CaseContext,
  type Measured,
  type Scenario,
  type ScenarioCase,
} from "../scenario.ts";
import { runParallel } from "./parallel.ts";
import { runSingle } from "./single.ts";

const clients = 8;

function besideBurner(name: string, work: (context: CaseContext) => Promise<Measured>): ScenarioCase {
  return {
    name,
    run: async (context) => {
      const idle = await work(context);
      await using burner = startProgram(process.execPath, ["-e", "for (;;) {}"]);
      const busy = await work(context);
      if (burner.hasEnded) throw burner.failure("The process that burns a core ended.");
      const idleSpeed = idle.values["tokensPerSecond"] ?? Number.NaN;
      const busySpeed = busy.values["tokensPerSecond"] ?? Number.NaN;
      return {
        values: { share: busySpeed / idleSpeed, busySpeed, idleSpeed },
        requests: [...idle.requests, ...busy.requests],
      };
    },
  };
}

export const busy: Scenario = {
  name: "busy",
  meaning: "Another process burns one core: how much of the speed without it is left.",
  subjects: serverSubjects,
  measures: [
    charted(higherIsBetter("share", "speed left beside a busy process", "×")),
    higherIsBetter("busySpeed", "speed beside it", "tokens/s"),
    higherIsBetter("idleSpeed", "speed without it", "tokens/s"),
  ],
  cases: [
    besideBurner("one client", ({ subject, prompts }) => runSingle(subject, prompts)),
    besideBurner(`${clients} clients`, ({ subject, prompts }) => runParallel(subject, prompts, clients)),
  ],
};
