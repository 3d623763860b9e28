// The library: models on this machine, the model hub, and jobs.
import { navigate, linkTo, route } from "../router.ts";
import { canManage, live, models, useMachine } from "../connection/connection.ts";
import { Button } from "../design/button.tsx";
import { Tabs } from "../design/tabs.tsx";
import { bytesText, countText } from "../format/localized.ts";
import { appText } from "../strings/app.ts";
import { libraryText } from "../strings/library.ts";
import { hubPart, HubView } from "./hub-view.tsx";
import { ImportDialog } from "./model-dialogs.tsx";
import { InstalledView } from "./installed-view.tsx";
import { JobsPanel } from "./jobs-panel.tsx";

import "./library.css";

/** The route of the dialog that imports a model. */
const importPart = "import";

export function LibraryPage() {
  const chosen = route.value.parts[0] === hubPart ? "hub" : "installed";
  const tabs = [
    { name: "installed" as const, label: libraryText.installedTab(countText(models.value.length)) },
    { name: "hub" as const, label: libraryText.hubTab },
  ];
  return (
    <div class="page">
      <div class="page-column">
        <Head />
        <JobsPanel />
        <Tabs
          label={libraryText.views}
          tabs={tabs}
          chosen={chosen}
          onChoose={(name) => navigate(name === "hub" ? linkTo("library", hubPart) : linkTo("library"))}
        >
          {chosen === "hub" ? <HubView /> : <InstalledView />}
        </Tabs>
      </div>
    </div>
  );
}

function Head() {
  const isImporting = route.value.parts[0] === importPart;
  const setImporting = (isOpen: boolean) =>
    navigate(isOpen ? linkTo("library", importPart) : linkTo("library"), { replace: !isOpen });
  return (
    <header class="library-head">
      <div>
        <h1>{appText.library}</h1>
        <Summary />
      </div>
      {canManage.value && (
        <Button icon="folder" onClick={() => setImporting(true)}>
          {libraryText.import}
        </Button>
      )}
      {isImporting && <ImportDialog onClose={() => setImporting(false)} />}
    </header>
  );
}

function Summary() {
  const machine = useMachine();
  const memory = live.value?.state.memory;
  const used = bytesText(memory?.used_bytes ?? 0);
  const budget = memory?.budget_bytes ?? null;
  const sentences = [
    memory === undefined
      ? ""
      : budget === null
        ? libraryText.summaryMemoryUnbounded(used)
        : libraryText.summaryMemory(used, bytesText(budget)),
    machine === null || machine.disk_free_bytes === null
      ? ""
      : libraryText.summaryDisk(bytesText(machine.disk_free_bytes)),
  ];
  return <p class="small soft">{sentences.filter((sentence) => sentence !== "").join(" ")}</p>;
}
