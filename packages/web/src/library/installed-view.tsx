// The models on the server's machine: status, facts and actions of each.
import type { ManagedModel } from "@ingle/protocol";
import { useState } from "preact/hooks";

import { go, linkTo } from "../app/router.ts";
import { live, models } from "../connection/connection.ts";
import { Badge, type Tone } from "../design/badge.tsx";
import { Button } from "../design/button.tsx";
import { EmptyState } from "../design/empty-state.tsx";
import { SearchInput } from "../design/field.tsx";
import { Progress } from "../design/progress.tsx";
import { agoText, bytesText, countText, momentText, shareText } from "../format/in-language.ts";
import { strings } from "../strings/strings.ts";
import { hubPart } from "./hub-view.tsx";
import { ModelActions } from "./model-actions.tsx";
import { isMoving, matchingModels, sortedModels } from "./model-view.ts";

/** The filter is shown from this many models on. */
const filterFrom = 7;

export function InstalledView() {
  const text = strings.value.library;
  const [words, setWords] = useState("");
  if (live.value === null) return <p class="soft">{strings.value.app.loading}</p>;
  if (models.value.length === 0) {
    return (
      <EmptyState icon="library" title={text.emptyTitle} text={text.emptyText}>
        <Button kind="primary" icon="search" onClick={() => go(linkTo("library", hubPart))}>
          {text.emptyAction}
        </Button>
      </EmptyState>
    );
  }
  const hasFilter = models.value.length >= filterFrom;
  const shown = sortedModels(hasFilter ? matchingModels(models.value, words) : models.value);
  return (
    <div class="stack">
      {hasFilter && (
        <SearchInput aria-label={text.filter} placeholder={text.filter} value={words} onValue={setWords} />
      )}
      {shown.length === 0 && <p class="soft">{text.noneMatch}</p>}
      <ul class="models" aria-label={text.installedList}>
        {shown.map((model) => (
          <ModelCard key={model.id} model={model} />
        ))}
      </ul>
    </div>
  );
}

function ModelCard({ model }: { model: ManagedModel }) {
  const text = strings.value.library;
  return (
    <li class={`model ${model.status}`}>
      <div class="model-main">
        <h3 class="model-name">{model.id}</h3>
        <StatusBadge model={model} />
        {model.pinned && <Badge title={text.pinnedHint}>{text.pinned}</Badge>}
        {model.aliases.map((alias) => (
          <Badge key={alias}>{alias}</Badge>
        ))}
        <p class="model-facts small soft">{factsOf(model).join(" · ")}</p>
        <Capabilities model={model} />
        {model.status === "loading" && (
          <Progress label={text.loadingOf(model.id)} value={model.progress ?? null} />
        )}
        {model.error !== null && <p class="model-error small">{model.error}</p>}
      </div>
      <div class="model-actions">
        <ModelActions model={model} />
      </div>
    </li>
  );
}

const tones: Readonly<Record<ManagedModel["status"], Tone>> = {
  available: "plain",
  preparing: "accent",
  loading: "accent",
  loaded: "good",
  draining: "warn",
  unloading: "warn",
  failed: "bad",
  closed: "plain",
};

function StatusBadge({ model }: { model: ManagedModel }) {
  const text = strings.value.library;
  const { status, progress, running } = model;
  const word = text.status[status];
  const share = status === "loading" && progress !== null ? ` ${shareText(progress)}` : "";
  return (
    <>
      <Badge tone={tones[status]}>
        {isMoving(model) && <span class="spinner" aria-hidden="true" />}
        {word}
        {share}
      </Badge>
      {running > 0 && <Badge tone="accent">{text.runningNow(running)}</Badge>}
    </>
  );
}

function factsOf(model: ManagedModel): string[] {
  const text = strings.value.library;
  const { memory_bytes: memory, kv_bits_k: keys, kv_bits_v: values, last_used_at: used } = model;
  return [
    ...(model.size_bytes === null ? [] : [bytesText(model.size_bytes)]),
    ...(model.quantization === null ? [] : [model.quantization]),
    ...(model.format === null ? [] : [text.format[model.format]]),
    ...(model.architecture === null ? [] : [model.architecture]),
    ...(model.context_length === null ? [] : [text.context(countText(model.context_length))]),
    ...(memory === null ? [] : [text.inMemory(bytesText(memory))]),
    ...(memory === null || ((keys ?? 16) === 16 && (values ?? 16) === 16)
      ? []
      : [text.kvBits(String(keys ?? 16), String(values ?? 16))]),
    used === null ? text.neverUsed : text.lastUsed(agoText(used)),
  ];
}

function Capabilities({ model: { capabilities, last_used_at: used } }: { model: ManagedModel }) {
  const text = strings.value.library;
  if (capabilities.length === 0) return null;
  return (
    <span class="model-capabilities" title={used === null ? undefined : momentText(used)}>
      {capabilities.map((capability) => (
        <Badge key={capability} title={text.capabilityHint[capability]}>
          {text.capability[capability]}
        </Badge>
      ))}
    </span>
  );
}
