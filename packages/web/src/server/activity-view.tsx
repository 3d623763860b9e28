// The Activity tab: figures, the chart of tokens per second over the last two minutes, requests and the log.
import type { LiveFigures } from "@ingle/protocol";
import { effect, signal } from "@preact/signals";
import { useEffect, useState } from "preact/hooks";

import { link, live, type LiveState } from "../connection/connection.ts";
import { Gauge } from "../design/indicators.tsx";
import { bytesText, countText, rateText, shareText } from "../format/localized.ts";
import { serverText } from "../strings/server.ts";
import { LogView } from "./log-panel.tsx";
import { RequestsPanel } from "./requests-panel.tsx";
import { axisTop, linePoints, RollingSamples } from "./rolling-samples.ts";
import "./activity.css";

export function ActivityView({ state }: { state: LiveState }) {
  return (
    <div class="stack-wide">
      <div class="stack">
        <Figures figures={state.figures} />
        <SpeedChart />
      </div>
      <RequestsPanel requests={state.requests} keepsBodies={state.keeps_bodies} />
      <LogView />
    </div>
  );
}

function Figures({ figures }: { figures: LiveFigures }) {
  const { kv_used: kv, cached_share: cached } = figures;
  return (
    <dl class="figure-tiles" aria-label={serverText.figures}>
      <Tile
        name={serverText.answerSpeed}
        value={rateText(figures.completion_tokens_per_second)}
        unit={serverText.tokensPerSecond}
      />
      <Tile
        name={serverText.promptSpeed}
        value={rateText(figures.prompt_tokens_per_second)}
        unit={serverText.tokensPerSecond}
      />
      <Tile
        name={serverText.running}
        value={countText(figures.running)}
        unit={serverText.waitingCount(countText(figures.waiting))}
      />
      <Tile name={serverText.kvUse} value={kv === null ? serverText.noFigure : shareText(kv)} share={kv} />
      <Tile name={serverText.cacheHits} value={cached === null ? serverText.noFigure : shareText(cached)} />
      <Tile name={serverText.processMemory} value={bytesText(figures.memory_bytes)} />
    </dl>
  );
}

interface TileProps {
  name: string;
  value: string;
  unit?: string;
  /** 0 to 1; shown as a bar. */
  share?: number | null;
}

function Tile({ name, value, unit, share }: TileProps) {
  return (
    <div class="figure-tile card">
      <dt class="small soft">{name}</dt>
      <dd class="figures">
        <b>{value}</b> {unit !== undefined && <span class="small soft">{unit}</span>}
        {share !== undefined && share !== null && <Gauge label={name} value={share} />}
      </dd>
    </div>
  );
}

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

function SpeedChart() {
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
  const spoken = serverText.chartText(
    rateText(last?.values.completion_tokens_per_second ?? 0),
    rateText(last?.values.prompt_tokens_per_second ?? 0),
  );
  return (
    <figure class="chart card stack">
      <figcaption class="chart-head">
        <span class="small soft">{serverText.chart}</span>
        <span class="chart-key answers small">
          {serverText.answerSpeed} <span class="soft">0–{countText(tops.answers)}</span>
        </span>
        <span class="chart-key prompts small">
          {serverText.promptSpeed} <span class="soft">0–{countText(tops.prompts)}</span>
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
        <span>{serverText.twoMinutesAgo}</span>
        <span>{serverText.now}</span>
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
