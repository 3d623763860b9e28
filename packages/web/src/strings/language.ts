// The user's language, and texts that follow it. A component that reads a text rerenders when the language changes.
import { signal } from "@preact/signals";

export const languages = ["en", "de"] as const;
export type Language = (typeof languages)[number];

/** Without an entry, the browser's language applies. */
const storageKey = "ingle-language";

export const language = signal<Language>("en");

/** One of two sentences, in the user's language. */
export function say(english: string, german: string): string {
  return language.value === "en" ? english : german;
}

/** A text in both languages, or one text for both. */
type Entry = string | readonly [english: string, german: string];

/** Texts by name, in groups; those with parameters are functions that call `say`. */
interface Table {
  readonly [name: string]: Entry | ((...values: never[]) => string) | Table;
}

type Texts<Shown> = {
  readonly [Name in keyof Shown]: Shown[Name] extends Entry
    ? string
    : Shown[Name] extends (...values: never[]) => string
      ? Shown[Name]
      : Texts<Shown[Name]>;
};

/** A table whose entries are read in the user's language: `appText.close` is "Close" or "Schließen". */
export function texts<const Written extends Table>(table: Written): Texts<Written> {
  const shown = Object.entries(table).map(([name, entry]): [string, PropertyDescriptor] => [
    name,
    { enumerable: true, get: makeGetter(entry) },
  ]);
  // Any type, as far as TypeScript knows: each property has the one that Texts gives it.
  return Object.create(null, Object.fromEntries(shown));
}

function makeGetter(entry: Table[string]): () => unknown {
  if (isPair(entry)) return () => say(...entry);
  const shown = typeof entry === "object" ? texts(entry) : entry;
  return () => shown;
}

function isPair(entry: Table[string]): entry is readonly [string, string] {
  return Array.isArray(entry);
}

/** The chosen language, or else the first of the browser's languages that the page has, or English. */
export function preferredLanguage(chosen: string | null, browser: readonly string[]): Language {
  const wanted = [chosen ?? "", ...browser].map((tag) => tag.toLowerCase().split("-")[0]);
  return (
    wanted.map((tag) => languages.find((known) => known === tag)).find((known) => known !== undefined) ?? "en"
  );
}

/** Applies the user's language. Call it before the first render. */
export function startLanguage(): void {
  apply(preferredLanguage(localStorage.getItem(storageKey), navigator.languages));
}

/** Changes the language and remembers the choice. */
export function chooseLanguage(name: Language): void {
  localStorage.setItem(storageKey, name);
  apply(name);
}

function apply(name: Language): void {
  language.value = name;
  document.documentElement.lang = name;
}
