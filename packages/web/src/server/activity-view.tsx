// The Activity tab: figures, the speed chart, requests and the log.
import type { LiveFigures } from "@ingle/protocol";

import type { LiveState } from "../connection/connection.ts";
import { Gauge } from "../design/progress.tsx";
import { bytesText, countText, rateText, shareText } from "../format/in-language.ts";
import { strings } from "../strings/strings.ts";
import { LogView } from "./log-panel.tsx";
import { RequestsPanel } from "./requests-panel.tsx";
import { SpeedChart } from "./speed-chart.tsx";

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
  const text = strings.value.server;
  const { kv_used: kv, cached_share: cached } = figures;
  return (
    <dl class="figure-tiles" aria-label={text.figures}>
      <Tile
        name={text.answerSpeed}
        value={rateText(figures.completion_tokens_per_second)}
        unit={text.tokensPerSecond}
      />
      <Tile
        name={text.promptSpeed}
        value={rateText(figures.prompt_tokens_per_second)}
        unit={text.tokensPerSecond}
      />
      <Tile
        name={text.running}
        value={countText(figures.running)}
        unit={text.waitingCount(countText(figures.waiting))}
      />
      <Tile name={text.kvUse} value={kv === null ? text.noFigure : shareText(kv)} share={kv} />
      <Tile name={text.cacheHits} value={cached === null ? text.noFigure : shareText(cached)} />
      <Tile name={text.processMemory} value={bytesText(figures.memory_bytes)} />
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
