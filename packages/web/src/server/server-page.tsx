// The Server page: the server's state, start button and address, and tabs for connecting, activity, settings and the machine.
import type { ServerControl, ServerStatus } from "@ingle/protocol";

import { navigate, linkTo, route } from "../router.ts";
import { canManage, client, live } from "../connection/connection.ts";
import { Failure } from "../design/failure.tsx";
import { Badge, type Tone } from "../design/indicators.tsx";
import { Button } from "../design/button.tsx";
import { CodeWords } from "../design/empty-state.tsx";
import { CopyButton } from "../design/copy-button.tsx";
import { Icon } from "../design/icon.tsx";
import { useAttempt } from "../design/toast.tsx";
import { Tabs } from "../design/tabs.tsx";
import { appText } from "../strings/app.ts";
import { serverText } from "../strings/server.ts";
import { ActivityView } from "./activity-view.tsx";
import { ConnectView } from "./connect-view.tsx";
import { MachineView } from "./machine-view.tsx";
import { isOpenToOthers } from "./settings-form.ts";
import { SettingsView } from "./settings-view.tsx";
import { startButton } from "./start-button.ts";
import { hasUnsaved, isSavable, saveFields } from "./unsaved-settings.ts";

import "./server-page.css";

const viewNames = ["connect", "activity", "settings", "machine"] as const;

export function ServerPage() {
  const state = live.value;
  const chosen = viewNames.find((name) => name === route.value.parts[0]) ?? "connect";
  if (state === null) return <p class="page-wait">{appText.loading}</p>;
  return (
    <div class="page">
      <div class="page-column">
        <ServerHead control={state.server} />
        <Tabs
          label={serverText.views}
          tabs={viewNames.map((name) => ({ name, label: serverText.tab[name] }))}
          chosen={chosen}
          onChoose={(name) => navigate(linkTo("server", name), { replace: true })}
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

const tones: Readonly<Record<ServerStatus, Tone>> = {
  stopped: "plain",
  loading: "accent",
  starting: "accent",
  running: "good",
  stopping: "warn",
  failed: "bad",
};

function ServerHead({ control }: { control: ServerControl }) {
  return (
    <header class="card stack">
      <div class="row row-apart">
        <div class="row">
          <h1>{appText.server}</h1>
          <span role="status">
            <Badge tone={tones[control.status]}>{serverText.status[control.status]}</Badge>
          </span>
        </div>
        <StartButtonView control={control} />
      </div>
      {control.url === null ? (
        <NoAddress control={control} />
      ) : (
        <Address control={control} url={control.url} />
      )}
      <Failure class="notice bad" role="alert" of={control} />
      {!control.can_control && (
        <p class="small soft">
          <CodeWords text={serverText.readOnly} />
        </p>
      )}
      {control.can_control && !canManage.value && <p class="small soft">{serverText.inferenceOnly}</p>}
    </header>
  );
}

function StartButtonView({ control }: { control: ServerControl }) {
  const [isSending, attempt] = useAttempt();
  const button = startButton(control);
  if (button === null) return null;
  const { label, action, isBusy } = button;
  const { settings } = control;
  // The server starts with what is on the screen.
  const savesFirst = action === "start" && hasUnsaved(settings);
  const press = async () => {
    if (action === null) return;
    if (savesFirst) await saveFields(settings);
    await client.serverControl[action]({ wait: false });
  };
  return (
    <Button
      kind={action === "stop" ? "danger" : "primary"}
      icon={action === "stop" ? "stop" : "play"}
      isBusy={isBusy || isSending}
      disabled={!canManage.value || (savesFirst && !isSavable(settings))}
      title={savesFirst && !isSavable(settings) ? serverText.startInvalid : undefined}
      onClick={() => void attempt(press)}
    >
      {serverText.button[savesFirst ? "saveAndStart" : label]}
    </Button>
  );
}

function NoAddress({ control: { status, open_requests: open } }: { control: ServerControl }) {
  if (status === "stopping") return <p class="soft">{serverText.stoppingText(open)}</p>;
  return (
    <p class="soft">
      {status === "loading" || status === "starting" ? serverText.startingText : serverText.stoppedText}
    </p>
  );
}

function Address({ control, url }: { control: ServerControl; url: string }) {
  const { moved_from_port: wanted, status, open_requests: open } = control;
  const isUnguarded = isOpenToOthers(control.settings) && !control.needs_key;
  return (
    <>
      <dl class="addresses">
        <AddressRow name={serverText.address} value={url} copy={serverText.copyAddress} />
        <AddressRow name={serverText.baseUrl} value={`${url}/v1`} copy={serverText.copyBaseUrl} />
      </dl>
      {wanted !== null && (
        <p class="small notice warn">{serverText.moved(String(wanted), new URL(url).port)}</p>
      )}
      {isUnguarded ? (
        <p class="small notice warn">
          <Icon name="error" size={18} />
          {serverText.openWithoutKey}
        </p>
      ) : (
        <p class="small soft">{control.needs_key ? serverText.needsKey : serverText.needsNoKey}</p>
      )}
      {status === "stopping" && <p class="soft">{serverText.stoppingText(open)}</p>}
    </>
  );
}

function AddressRow({ name, value, copy }: { name: string; value: string; copy: string }) {
  return (
    <div>
      <dt class="small soft">{name}</dt>
      <dd>
        <code class="address">{value}</code>
        <CopyButton text={() => value} label={copy} />
      </dd>
    </div>
  );
}
