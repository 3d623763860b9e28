// Tokens per second of the last two minutes, as two lines that move with the time.
import { useEffect, useState } from "preact/hooks";

import { countText, rateText } from "../format/in-language.ts";
import { strings } from "../strings/strings.ts";
import { chartWindowMs, figures, figuresVersion } from "./live-figures.ts";
import { axisTop, linePoints } from "./rolling-samples.ts";

import "./speed-chart.css";

/** Units of the drawing; it is stretched to its place. */
const box = { width: 600, height: 120 };

/** Lines move on while nothing new comes. */
const frameMs = 500;

/** The lowest top: one token a second should not look like a mountain. */
const topMin = 10;

export function SpeedChart() {
  const text = strings.value.server;
  const now = useTime();
  void figuresVersion.value;
  const { samples, last } = figures;
  const answers = samples.map(({ values }) => values.completion_tokens_per_second);
  const prompts = samples.map(({ values }) => values.prompt_tokens_per_second);
  // Prompts are read many times faster than answers are written: each line has a scale of its own.
  const tops = { answers: axisTop(answers, topMin), prompts: axisTop(prompts, topMin) };
  const view = { now, windowMs: chartWindowMs, box };
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
