// The chart of tokens per second over the last two minutes.
import type { LiveFigures } from "@ingle/protocol";
import { effect, signal } from "@preact/signals";
import { useEffect, useState } from "preact/hooks";

import { link, live } from "../connection/connection.ts";
import { countText, rateText } from "../format/in-language.ts";
import { strings } from "../strings/strings.ts";
import { axisTop, linePoints, RollingSamples } from "./rolling-samples.ts";

const windowMs = 120_000;

/** Collected from the first visit of the Server page on, also while other pages are shown. */
const figures = new RollingSamples<LiveFigures>(windowMs);

/** Incremented with each sample, so that readers rerender. */
const figuresVersion = signal(0);

effect(() => {
  // Nothing is known of the time of a broken connection, so the line starts over.
  if (link.value !== "open") figures.clear();
  else if (live.value !== null) figures.add(performance.now(), live.value.figures);
  figuresVersion.value = figuresVersion.peek() + 1;
});

/** The viewBox; the drawing is stretched to its place. */
const box = { width: 600, height: 120 };

/** How often the lines move on without a new sample. */
const frameMs = 500;

/** The least top of an axis: one token per second should not look like a peak. */
const topMin = 10;

export function SpeedChart() {
  const text = strings.value.server;
  const now = useTime();
  void figuresVersion.value;
  const { samples, last } = figures;
  const answers = samples.map(({ values }) => values.completion_tokens_per_second);
  const prompts = samples.map(({ values }) => values.prompt_tokens_per_second);
  // Prefill is many times faster than generation, so each line has its own scale.
  const tops = { answers: axisTop(answers, topMin), prompts: axisTop(prompts, topMin) };
  const view = { now, windowMs, box };
  const answered = linePoints(samples, (each) => each.completion_tokens_per_second, {
    ...view,
    max: tops.answers,
  });
  const read = linePoints(samples, (each) => each.prompt_tokens_per_second, { ...view, max: tops.prompts });
  const spoken = text.chartText(
    rateText(last?.values.completion_tokens_per_second ?? 0),
    rateText(last?.values.prompt_tokens_per_second ?? 0),
  );
  return (
    <figure class="chart card">
      <figcaption class="chart-head">
        <span class="small soft">{text.chart}</span>
        <span class="chart-key answers small">
          {text.answerSpeed} <span class="soft">0–{countText(tops.answers)}</span>
        </span>
        <span class="chart-key prompts small">
          {text.promptSpeed} <span class="soft">0–{countText(tops.prompts)}</span>
        </span>
      </figcaption>
      <svg
        class="chart-lines"
        viewBox={`0 0 ${box.width} ${box.height}`}
        preserveAspectRatio="none"
        role="img"
        aria-label={spoken}
      >
        {[0.25, 0.5, 0.75].map((share) => (
          <line
            key={share}
            class="grid"
            x1="0"
            x2={box.width}
            y1={box.height * share}
            y2={box.height * share}
          />
        ))}
        <polyline class="prompts" points={read} />
        <polyline class="answers" points={answered} />
      </svg>
      <div class="row row-apart small soft" aria-hidden="true">
        <span>{text.twoMinutesAgo}</span>
        <span>{text.now}</span>
      </div>
    </figure>
  );
}

function useTime(): number {
  const [now, setNow] = useState(performance.now());
  useEffect(() => {
    const timer = setInterval(() => setNow(performance.now()), frameMs);
    return () => clearInterval(timer);
  }, []);
  return Math.max(now, figures.last?.at ?? 0);
}
