// The Settings page: appearance, chats, the machine, and about.
import { useEffect, useRef } from "preact/hooks";

import { linkTo } from "../app/router.ts";
import { chooseTheme, theme, type Theme, themes } from "../app/theme.ts";
import { importFile, saveAllChats } from "../chat/chat-files.ts";
import { deleteConversation, setDefaultPreset } from "../chats/chat-changes.ts";
import { conversations, presets, startChats } from "../chats/chat-store.ts";
import { useAttempt } from "../connection/attempt.ts";
import { live } from "../connection/connection.ts";
import { Button } from "../design/button.tsx";
import { FileInput, SelectField } from "../design/field.tsx";
import { ask } from "../design/question.tsx";
import { showError } from "../design/toast.tsx";
import { bytesText, countText } from "../format/in-language.ts";
import { machine, useMachine } from "../machine/machine-state.ts";
import { chooseLanguage, language, languages, strings } from "../strings/strings.ts";

export function SettingsPage() {
  const text = strings.value.app;
  return (
    <div class="page">
      <div class="page-column narrow">
        <h1>{text.settings}</h1>
        <section class="card stack" aria-labelledby="appearance">
          <h2 id="appearance">{text.appearance}</h2>
          <ThemeField />
          <LanguageField />
        </section>
        <ChatsSection />
        <MachineSection />
        <AboutSection />
      </div>
    </div>
  );
}

function MachineSection() {
  const text = strings.value.settings;
  const current = useMachine();
  if (current === null) return null;
  const cores = strings.value.machine.cores(current.cores);
  return (
    <section class="card stack" aria-labelledby="machine">
      <h2 id="machine">{text.machine}</h2>
      <p>{text.machineText(current.processor, cores, bytesText(current.memory_bytes))}</p>
      <p class="small">
        <a href={linkTo("server", "machine")}>{text.machineLink}</a>
      </p>
    </section>
  );
}

function AboutSection() {
  const text = strings.value.app;
  const llamaCpp = machine.value?.llama_cpp;
  return (
    <section class="card stack" aria-labelledby="about">
      <h2 id="about">{text.about}</h2>
      <p class="soft">{text.aboutText}</p>
      {live.value !== null && (
        <p class="small soft">
          {strings.value.machine.version} {live.value.state.version}
          {llamaCpp !== undefined && ` · ${strings.value.machine.llamaCpp} ${llamaCpp}`}
        </p>
      )}
      <p class="small soft">{strings.value.settings.licenseText}</p>
      <p class="small">
        <a href="docs" target="_blank" rel="noreferrer">
          {strings.value.settings.docs}
        </a>
      </p>
    </section>
  );
}

function ThemeField() {
  const text = strings.value.app;
  const labels: Record<Theme, string> = {
    system: text.themeSystem,
    light: text.themeLight,
    dark: text.themeDark,
  };
  return (
    <SelectField
      label={text.theme}
      value={theme.value}
      choices={themes.map((value) => ({ value, label: labels[value] }))}
      onValue={chooseTheme}
    />
  );
}

function LanguageField() {
  const text = strings.value.app;
  return (
    <SelectField
      label={text.language}
      value={language.value}
      choices={languages.map((value) => ({ value, label: text.languageNames[value] }))}
      onValue={(chosen) => void chooseLanguage(chosen)}
    />
  );
}

function ChatsSection() {
  const text = strings.value.settings;
  const count = conversations.value.length;
  useEffect(() => {
    startChats().catch(showError);
  }, []);
  return (
    <section class="card stack" aria-labelledby="chats">
      <h2 id="chats">{text.chats}</h2>
      <p class="small soft">
        {text.chatsText} {count > 1 && text.chatCount(countText(count))}
      </p>
      <DefaultPreset />
      <ChatFiles />
    </section>
  );
}

function DefaultPreset() {
  const text = strings.value.settings;
  const [isBusy, attempt] = useAttempt();
  const choices = [
    { value: "", label: text.noPreset },
    ...presets.value.map(({ id, name }) => ({ value: id, label: name })),
  ];
  return (
    <SelectField
      label={text.defaultPreset}
      hint={text.defaultPresetHint}
      value={presets.value.find(({ isDefault }) => isDefault)?.id ?? ""}
      choices={choices}
      disabled={isBusy}
      onValue={(id) => void attempt(() => setDefaultPreset(id === "" ? null : id))}
    />
  );
}

function ChatFiles() {
  const text = strings.value.settings;
  const file = useRef<HTMLInputElement>(null);
  const [isBusy, attempt] = useAttempt();
  const isEmpty = conversations.value.length === 0;
  return (
    <div class="row">
      <Button icon="download" disabled={isEmpty} isBusy={isBusy} onClick={() => void attempt(saveAllChats)}>
        {text.exportChats}
      </Button>
      <Button icon="upload" disabled={isBusy} onClick={() => file.current?.click()}>
        {text.importChats}
      </Button>
      <Button kind="danger" icon="trash" disabled={isEmpty || isBusy} onClick={() => void attempt(deleteAll)}>
        {text.deleteChats}
      </Button>
      <FileInput
        input={file}
        label={text.importChats}
        accept="application/json,.json"
        onFiles={([first]) => first !== undefined && void attempt(() => importFile(first))}
      />
    </div>
  );
}

async function deleteAll(): Promise<void> {
  const text = strings.value.settings;
  const all = conversations.value;
  const question = {
    title: text.deleteTitle,
    text: text.deleteText(countText(all.length)),
    action: text.deleteAction,
    isDangerous: true,
  };
  if (!(await ask(question))) return;
  for (const { id } of all) await deleteConversation(id);
}
