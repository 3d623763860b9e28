// The Settings page: appearance, chats, the machine, and about.
import { linkTo } from "../app/router.ts";
import { chooseTheme, theme, themes, type Theme } from "../app/theme.ts";
import { live } from "../connection/connection.ts";
import { SelectField } from "../design/field.tsx";
import { bytesText } from "../format/in-language.ts";
import { machine, useMachine } from "../machine/machine-state.ts";
import { chooseLanguage, language, languages, strings } from "../strings/strings.ts";
import { ChatsSection } from "./chats-section.tsx";

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
