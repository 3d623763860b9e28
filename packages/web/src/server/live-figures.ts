// The figures of the last two minutes, kept from when this part of the page was first opened, so that the chart is there
// when a person comes back to it.
import type { LiveFigures } from "@ingle/protocol";
import { effect, signal } from "@preact/signals";

import { link, live } from "../connection/connection.ts";
import { RollingSamples } from "./rolling-samples.ts";

export const chartWindowMs = 120_000;

export const figures = new RollingSamples<LiveFigures>(chartWindowMs);

/** Rises with each sample: whoever reads it is drawn again. */
export const figuresVersion = signal(0);

effect(() => {
  // A break is no line: nobody has seen what was in it.
  if (link.value !== "open") figures.clear();
  else if (live.value !== null) figures.add(performance.now(), live.value.figures);
  figuresVersion.value = figuresVersion.peek() + 1;
});
