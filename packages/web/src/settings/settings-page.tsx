// The Settings page: appearance, chats, the machine, and about.
import { useEffect, useRef } from "preact/hooks";

import { linkTo } from "../router.ts";
import { chooseTheme, theme, themes } from "../design/theme.ts";
import { saveAllChats } from "../chat/chat-files.ts";
import { importFiles } from "../chat/import-chats.ts";
import { ImportDialog } from "../chat/import-dialog.tsx";
import { showFigures, showsFigures } from "../conversations/current-chat.ts";
import { deleteConversation, setDefaultPreset } from "../conversations/chat-changes.ts";
import { conversations, chatsKeptBy, presets, startChats } from "../conversations/chat-store.ts";
import { setRemembered, live, machine, isRemembered, session, useMachine } from "../connection/connection.ts";
import { Button } from "../design/button.tsx";
import { FileInput, SelectField, Switch } from "../design/field.tsx";
import { ask } from "../design/dialog.tsx";
import { showError, useAttempt } from "../design/toast.tsx";
import { bytesText, countText } from "../format/localized.ts";
import { appText } from "../strings/app.ts";
import { chooseLanguage, language, languages } from "../strings/language.ts";
import { machineText, settingsText } from "../strings/pages.ts";

export function SettingsPage() {
  return (
    <div class="page">
      <div class="page-column narrow">
        <h1>{appText.settings}</h1>
        <section class="card stack" aria-labelledby="appearance">
          <h2 id="appearance">{appText.appearance}</h2>
          <SelectField
            label={appText.theme}
            value={theme.value}
            choices={themes.map((value) => ({ value, label: appText.themeNames[value] }))}
            onValue={chooseTheme}
          />
          <SelectField
            label={appText.language}
            value={language.value}
            choices={languages.map((value) => ({ value, label: appText.languageNames[value] }))}
            onValue={chooseLanguage}
          />
          <Switch
            label={settingsText.figures}
            hint={settingsText.figuresHint}
            isOn={showsFigures.value}
            onToggle={showFigures}
          />
        </section>
        <ChatsSection />
        <AccessSection />
        <MachineSection />
        <AboutSection />
      </div>
    </div>
  );
}

/** Only the app's page comes back by itself; a server's keys stay valid. */
function AccessSection() {
  const [isBusy, attempt] = useAttempt();
  if (session.value?.is_app !== true) return null;
  return (
    <section class="card stack" aria-labelledby="access">
      <h2 id="access">{settingsText.access}</h2>
      <Switch
        label={settingsText.returns}
        hint={settingsText.returnsHint}
        isOn={isRemembered.value}
        isDisabled={isBusy}
        onToggle={(isWanted) => void attempt(() => setRemembered(isWanted))}
      />
    </section>
  );
}

function MachineSection() {
  const current = useMachine();
  if (current === null) return null;
  const cores = machineText.cores(current.cores);
  return (
    <section class="card stack" aria-labelledby="machine">
      <h2 id="machine">{settingsText.machine}</h2>
      <p>{settingsText.machineText(current.processor, cores, bytesText(current.memory_bytes))}</p>
      <p class="small">
        <a href={linkTo("server", "machine")}>{settingsText.machineLink}</a>
      </p>
    </section>
  );
}

function AboutSection() {
  const llamaCpp = machine.value?.llama_cpp;
  return (
    <section class="card stack" aria-labelledby="about">
      <h2 id="about">{appText.about}</h2>
      <p class="soft">{appText.aboutText}</p>
      {live.value !== null && (
        <p class="small soft">
          {machineText.version} {live.value.state.version}
          {llamaCpp !== undefined && ` · ${machineText.llamaCpp} ${llamaCpp}`}
        </p>
      )}
      <p class="small soft">{settingsText.licenseText}</p>
      <p class="small">
        <a href="docs" target="_blank" rel="noreferrer">
          {settingsText.docs}
        </a>
      </p>
    </section>
  );
}

function ChatsSection() {
  const count = conversations.value.length;
  useEffect(() => {
    startChats().catch(showError);
  }, []);
  return (
    <section class="card stack" aria-labelledby="chats">
      <h2 id="chats">{settingsText.chats}</h2>
      <p class="small soft">
        {chatsKeptBy.value !== null && settingsText.chatsIn[chatsKeptBy.value]}{" "}
        {count > 1 && settingsText.chatCount(countText(count))}
      </p>
      <DefaultPreset />
      <ChatFiles />
    </section>
  );
}

function DefaultPreset() {
  const [isBusy, attempt] = useAttempt();
  const choices = [
    { value: "", label: settingsText.noPreset },
    ...presets.value.map(({ id, name }) => ({ value: id, label: name })),
  ];
  return (
    <SelectField
      label={settingsText.defaultPreset}
      hint={settingsText.defaultPresetHint}
      value={presets.value.find(({ isDefault }) => isDefault)?.id ?? ""}
      choices={choices}
      disabled={isBusy}
      onValue={(id) => void attempt(() => setDefaultPreset(id === "" ? null : id))}
    />
  );
}

function ChatFiles() {
  const file = useRef<HTMLInputElement>(null);
  const [isBusy, attempt] = useAttempt();
  const isEmpty = conversations.value.length === 0;
  return (
    <div class="row">
      <Button icon="download" disabled={isEmpty} isBusy={isBusy} onClick={() => void attempt(saveAllChats)}>
        {settingsText.exportChats}
      </Button>
      <Button icon="upload" disabled={isBusy} onClick={() => file.current?.click()}>
        {settingsText.importChats}
      </Button>
      <Button kind="danger" icon="trash" disabled={isEmpty || isBusy} onClick={() => void attempt(deleteAll)}>
        {settingsText.deleteChats}
      </Button>
      <FileInput
        input={file}
        label={settingsText.importChats}
        accept="application/json,.json"
        multiple
        onFiles={(files) => void attempt(() => importFiles(files))}
      />
      <ImportDialog />
    </div>
  );
}

async function deleteAll(): Promise<void> {
  const all = conversations.value;
  const question = {
    title: settingsText.deleteTitle,
    text: settingsText.deleteText(countText(all.length)),
    action: settingsText.deleteAction,
    isDangerous: true,
  };
  if (!(await ask(question))) return;
  for (const { id } of all) await deleteConversation(id);
}
