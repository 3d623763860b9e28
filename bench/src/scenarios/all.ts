// Every scenario of `pnpm bench http`, in the order in which they run.
import type { Scenario } from "../scenario.ts";
import { bridge } from "./bridge.ts";
import { busy } from "./busy.ts";
import { churn } from "./churn.ts";
import { cold } from "./cold.ts";
import { mixed } from "./mixed.ts";
import { multiTurn } from "./multi-turn.ts";
import { parallel } from "./parallel.ts";
import { sharedPrefix } from "./shared-prefix.ts";
import { single } from "./single.ts";
import { sampling, structured } from "./token-cost.ts";
import { vision } from "./vision.ts";

export const scenarios: readonly Scenario[] = [
  single,
  parallel,
  sharedPrefix,
  multiTurn,
  mixed,
  churn,
  cold,
  bridge,
  sampling,
  structured,
  vision,
  busy,
];
