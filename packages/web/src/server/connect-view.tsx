// The Connect tab: snippets for other programs, and the models' ids.
import type { ServerControl } from "@ingle/protocol";
import { useState } from "preact/hooks";

import { findModel, models } from "../connection/connection.ts";
import { Badge } from "../design/indicators.tsx";
import { CodeWords } from "../design/empty-state.tsx";
import { CopyButton } from "../design/copy-button.tsx";
import { SelectField } from "../design/field.tsx";
import { Tabs } from "../design/tabs.tsx";
import { sortedModels } from "../library/model-view.ts";
import { appText } from "../strings/app.ts";
import { libraryText } from "../strings/library.ts";
import { serverText } from "../strings/server.ts";
import { snippets } from "./snippets.ts";

import "./connect-view.css";

/** Used in the snippets while there is no model. */
const modelPlaceholder = "YOUR_MODEL";

export function ConnectView({ control }: { control: ServerControl }) {
  return (
    <div class="stack-wide">
      <Snippets control={control} />
      <ModelIds control={control} />
    </div>
  );
}

function Snippets({ control }: { control: ServerControl }) {
  // The snippets are chats, so embedding models are left out.
  const names = sortedModels(models.value)
    .filter(({ capabilities }) => !capabilities.includes("embeddings"))
    .map(({ id }) => id);
  const [wanted, setWanted] = useState<string | null>(null);
  const model = names.find((id) => id === wanted) ?? names[0] ?? modelPlaceholder;
  const url = control.url ?? plannedUrl(control);
  const all = snippets({
    url,
    model,
    needsKey: control.needs_key,
    contextLength: findModel(model)?.context_length ?? null,
  });
  const [chosen, setChosen] = useState("curl");
  const snippet = all.find(({ id }) => id === chosen) ?? all[0];
  if (snippet === undefined) return null;
  return (
    <section class="stack snippets" aria-labelledby="snippets-heading">
      <div class="snippets-head">
        <h2 id="snippets-heading">{serverText.snippets}</h2>
        {names.length > 1 && (
          <SelectField
            label={appText.model}
            value={model}
            choices={names.map((id) => ({ value: id, label: id }))}
            onValue={setWanted}
          />
        )}
      </div>
      <Tabs
        label={serverText.snippets}
        tabs={all.map(({ id, title }) => ({ name: id, label: title }))}
        chosen={snippet.id}
        onChoose={setChosen}
      >
        <div class="snippet">
          <div class="snippet-bar">
            <span class="small soft">{snippet.language}</span>
            <CopyButton text={() => snippet.code} label={serverText.copySnippet(snippet.title)} />
          </div>
          {/* Focusable, so that the keyboard can scroll it. */}
          <pre tabIndex={0}>
            <code>{snippet.code}</code>
          </pre>
        </div>
      </Tabs>
      {control.url === null && <p class="small soft">{serverText.snippetStopped}</p>}
      {control.needs_key && <p class="small soft">{serverText.snippetKey}</p>}
    </section>
  );
}

/** Where the server will listen if its port is free. */
function plannedUrl({ settings: { host, port } }: ServerControl): string {
  const isEverywhere = host === "0.0.0.0" || host === "::";
  const name = isEverywhere ? "127.0.0.1" : host.includes(":") ? `[${host}]` : host;
  return `http://${name}:${port}`;
}

function ModelIds({ control }: { control: ServerControl }) {
  const status = libraryText.status;
  return (
    <section class="stack" aria-labelledby="ids-heading">
      <h2 id="ids-heading">{serverText.models}</h2>
      <p class="small soft">
        <CodeWords text={serverText.modelsText} />
      </p>
      {control.settings.variant === "developer" && (
        <p class="small soft">
          <CodeWords text={serverText.modelsDeveloper} />
        </p>
      )}
      {models.value.length === 0 ? (
        <p class="soft">{serverText.noModels}</p>
      ) : (
        <ul class="boxed ids">
          {sortedModels(models.value).map((model) => (
            <li key={model.id}>
              <code>{model.id}</code>
              {model.status !== "available" && (
                <Badge tone={model.status === "loaded" ? "good" : "plain"}>{status[model.status]}</Badge>
              )}
              <CopyButton text={() => model.id} label={serverText.copyModel(model.id)} />
            </li>
          ))}
        </ul>
      )}
    </section>
  );
}
