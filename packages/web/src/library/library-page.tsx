// The library: models on this machine, the model hub, and jobs.
import { useState } from "preact/hooks";

import { go, linkTo, route } from "../app/router.ts";
import { canManage } from "../connection/client.ts";
import { live, models } from "../connection/connection.ts";
import { Button } from "../design/button.tsx";
import { Tabs } from "../design/tabs.tsx";
import { bytesText, countText } from "../format/in-language.ts";
import { useMachine } from "../machine/machine-state.ts";
import { strings } from "../strings/strings.ts";
import { hubPart, HubView } from "./hub-view.tsx";
import { ImportDialog } from "./model-dialogs.tsx";
import { InstalledView } from "./installed-view.tsx";
import { JobsPanel } from "./jobs-panel.tsx";

import "./library.css";

export function LibraryPage() {
  const text = strings.value.library;
  const chosen = route.value.parts[0] === hubPart ? "hub" : "installed";
  const tabs = [
    { name: "installed" as const, label: text.installedTab(countText(models.value.length)) },
    { name: "hub" as const, label: text.hubTab },
  ];
  return (
    <div class="page">
      <div class="page-column">
        <Head />
        <JobsPanel />
        <Tabs
          label={text.views}
          tabs={tabs}
          chosen={chosen}
          onChoose={(name) => go(name === "hub" ? linkTo("library", hubPart) : linkTo("library"))}
        >
          {chosen === "hub" ? <HubView /> : <InstalledView />}
        </Tabs>
      </div>
    </div>
  );
}

function Head() {
  const text = strings.value.library;
  const [isImporting, setImporting] = useState(false);
  return (
    <header class="library-head">
      <div>
        <h1>{text.title}</h1>
        <Summary />
      </div>
      {canManage.value && (
        <Button icon="folder" onClick={() => setImporting(true)}>
          {text.import}
        </Button>
      )}
      {isImporting && <ImportDialog onClose={() => setImporting(false)} />}
    </header>
  );
}

function Summary() {
  const text = strings.value.library;
  const machine = useMachine();
  const memory = live.value?.state.memory;
  const used = bytesText(memory?.used_bytes ?? 0);
  const budget = memory?.budget_bytes ?? null;
  const sentences = [
    memory === undefined
      ? ""
      : budget === null
        ? text.summaryMemoryUnbounded(used)
        : text.summaryMemory(used, bytesText(budget)),
    machine === null || machine.disk_free_bytes === null
      ? ""
      : text.summaryDisk(bytesText(machine.disk_free_bytes)),
  ];
  return <p class="small soft">{sentences.filter((sentence) => sentence !== "").join(" ")}</p>;
}
