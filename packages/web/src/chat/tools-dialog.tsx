// The dialog in which a user turns MCP servers on and off for a chat, and stops them. Opening it starts nothing.
import type { McpServer, McpServerList } from "@ingle/protocol";
import { signal } from "@preact/signals";
import { useEffect } from "preact/hooks";

import { changeChoice, currentChoice } from "../conversations/current-chat.ts";
import { Button } from "../design/button.tsx";
import { Dialog } from "../design/dialog.tsx";
import { Switch } from "../design/field.tsx";
import { Badge } from "../design/indicators.tsx";
import { attempt } from "../design/toast.tsx";
import { countText } from "../format/localized.ts";
import { appText } from "../strings/app.ts";
import { toolsText } from "../strings/tools.ts";
import { shownText } from "../format/shown-text.ts";
import { refreshToolServers, startToolServer, stopToolServer, toolServers } from "../replies/tool-servers.ts";

import "./tools-dialog.css";

export const toolsAreOpen = signal(false);

export function ToolsDialog() {
  return toolsAreOpen.value ? <OpenDialog /> : null;
}

function OpenDialog() {
  useEffect(() => void attempt(refreshToolServers), []);
  const list = toolServers.value;
  return (
    <Dialog title={toolsText.tools} onClose={() => (toolsAreOpen.value = false)}>
      {list !== null && <Servers list={list} />}
    </Dialog>
  );
}

function Servers({ list: { data, file, problem } }: { list: McpServerList }) {
  if (file === null) return <p>{toolsText.off}</p>;
  return (
    <div class="stack">
      {problem !== null && (
        <p class="tool-problem" role="alert">
          {toolsText.fileProblem(problem)}
        </p>
      )}
      {data.length === 0 && problem === null && <p>{toolsText.none(file)}</p>}
      {data.length > 0 && (
        <>
          <p class="small soft">
            {toolsText.hint} {toolsText.file(file)}
          </p>
          <ul class="tool-servers">
            {data.map((server) => (
              <Server key={server.name} server={server} />
            ))}
          </ul>
        </>
      )}
    </div>
  );
}

function Server({ server }: { server: McpServer }) {
  const { name, state, problems, tools } = server;
  const isUsed = (currentChoice.value.toolServers ?? []).includes(name);
  const isRunning = state === "ready" || state === "starting";
  return (
    <li class="boxed tool-server">
      <div class="tool-server-head">
        <Switch
          label={shownText(name)}
          hint={toolsText.states[state]}
          isOn={isUsed && isRunning}
          isDisabled={state === "starting" || state === "disabled"}
          onToggle={(isOn) => void attempt(() => (isOn ? turnOn(server) : turnOff(name)))}
        />
        {isRunning && (
          <Button
            size="small"
            icon="stop"
            aria-label={toolsText.stop(name)}
            onClick={() => void attempt(() => stopToolServer(name))}
          >
            {appText.stop}
          </Button>
        )}
      </div>
      {problems.map((problem) => (
        <p key={problem} class="small tool-problem">
          {shownText(problem)}
        </p>
      ))}
      {tools.length > 0 && (
        <details>
          <summary class="small">{toolsText.toolCount(countText(tools.length))}</summary>
          <ul class="tool-list small">
            {tools.map(({ tool, title, description, allowed }) => (
              <li key={tool}>
                <strong>{shownText(title ?? tool)}</strong>{" "}
                <Badge tone={allowed ? "warn" : "plain"}>
                  {allowed ? toolsText.allowed : toolsText.asksFirst}
                </Badge>
                {description !== null && <p class="soft">{shownText(description)}</p>}
              </li>
            ))}
          </ul>
        </details>
      )}
    </li>
  );
}

/** Starts the server if it does not run. One that cannot be started stays off. */
async function turnOn({ name, state }: McpServer): Promise<void> {
  if (state !== "ready" && !(await startToolServer(name))) return;
  const others = (currentChoice.value.toolServers ?? []).filter((other) => other !== name);
  await changeChoice({ toolServers: [...others, name] });
}

/** Other chats may use the server, so it keeps running. */
async function turnOff(name: string): Promise<void> {
  await changeChoice({
    toolServers: (currentChoice.value.toolServers ?? []).filter((other) => other !== name),
  });
}
