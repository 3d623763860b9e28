// The Server page: its head, and tabs for connecting, activity, settings and the machine.
import { go, linkTo, route } from "../app/router.ts";
import { live } from "../connection/connection.ts";
import { Tabs } from "../design/tabs.tsx";
import { strings } from "../strings/strings.ts";
import { ActivityView } from "./activity-view.tsx";
import { ConnectView } from "./connect-view.tsx";
import { MachineView } from "./machine-view.tsx";
import { ServerHead } from "./server-head.tsx";
import { SettingsView } from "./settings-view.tsx";

const viewNames = ["connect", "activity", "settings", "machine"] as const;

export function ServerPage() {
  const text = strings.value.server;
  const state = live.value;
  const chosen = viewNames.find((name) => name === route.value.parts[0]) ?? "connect";
  if (state === null) return <p class="page-wait">{strings.value.app.loading}</p>;
  return (
    <div class="page">
      <div class="page-column">
        <ServerHead control={state.server} />
        <Tabs
          label={text.views}
          tabs={viewNames.map((name) => ({ name, label: text.tab[name] }))}
          chosen={chosen}
          onChoose={(name) => go(linkTo("server", name), { replace: true })}
        >
          {chosen === "connect" && <ConnectView control={state.server} />}
          {chosen === "activity" && <ActivityView state={state} />}
          {chosen === "settings" && <SettingsView control={state.server} />}
          {chosen === "machine" && <MachineView />}
        </Tabs>
      </div>
    </div>
  );
}
