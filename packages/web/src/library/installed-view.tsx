// The models on the server's machine.
import { useState } from "preact/hooks";

import { go, linkTo } from "../app/router.ts";
import { live, models } from "../connection/connection.ts";
import { Button } from "../design/button.tsx";
import { EmptyState } from "../design/empty-state.tsx";
import { SearchInput } from "../design/field.tsx";
import { strings } from "../strings/strings.ts";
import { hubPart } from "./hub-view.tsx";
import { ModelCard } from "./model-card.tsx";
import { matchingModels, sortedModels } from "./model-view.ts";

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
