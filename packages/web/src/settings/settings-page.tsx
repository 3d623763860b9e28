// The page's own settings: how it looks, in which language, and what it is.
import { linkTo } from "../app/router.ts";
import { chooseTheme, theme, themes, type Theme } from "../app/theme.ts";
import { live } from "../connection/connection.ts";
import { Field, Select } from "../design/field.tsx";
import { bytesText } from "../format/in-language.ts";
import { machine, useMachine } from "../machine/machine-state.ts";
import { chooseLanguage, language, languages, strings } from "../strings/strings.ts";

import { ChatsSection } from "./chats-section.tsx";

import "./settings-page.css";

export function SettingsPage() {
  const text = strings.value.app;
  return (
    <div class="page">
      <div class="page-column settings">
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
  const told = useMachine();
  if (told === null) return null;
  const cores = strings.value.machine.cores(told.cores);
  return (
    <section class="card stack" aria-labelledby="machine">
      <h2 id="machine">{text.machine}</h2>
      <p>{text.machineText(told.processor, cores, bytesText(told.memory_bytes))}</p>
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
    <Field label={text.theme}>
      {(control) => (
        <Select
          {...control}
          value={theme.value}
          choices={themes.map((value) => ({ value, label: labels[value] }))}
          onValue={chooseTheme}
        />
      )}
    </Field>
  );
}

function LanguageField() {
  const text = strings.value.app;
  return (
    <Field label={text.language}>
      {(control) => (
        <Select
          {...control}
          value={language.value}
          choices={languages.map((value) => ({ value, label: text.languageNames[value] }))}
          onValue={(chosen) => void chooseLanguage(chosen)}
        />
      )}
    </Field>
  );
}
