// The settings that stay with models: one file in JSON with comments, `models.jsonc`, which people edit by hand and programs through
// set(). A changed file is read again while the server runs; a wrong one changes nothing until it is right.
import { readFile, realpath } from "node:fs/promises";
import path from "node:path";
import { writeAtomically } from "@ingle/engine/atomic-file";
import { ModelSettingsFile, type ModelSettings } from "@ingle/protocol";
import { applyEdits, modify, parse, printParseErrorCode, type ParseError } from "jsonc-parser";
import { onlyModels } from "../../access/rights.ts";
import { LockError, whileLocked } from "../../file-lock.ts";
import { ConfigError } from "../../settings/resolve.ts";
import { watchFiles, type FileNews } from "../../watched-files.ts";
import { WireError } from "../../wire-error.ts";
import { mergeSettings } from "./merge-settings.ts";

/** Its name in the config folder. */
const fileName = "models.jsonc";

/** Larger files are a mistake. */
const bytesMax = 4 * 1024 * 1024;

const formattingOptions = { insertSpaces: true, tabSize: 2, eol: "\n", insertFinalNewline: true };

/** What a new file begins with. */
const emptyText = `// Settings that stay with models. ingle config changes them too.
{
  "models": {}
}
`;

const empty: ModelSettingsFile = { models: {} };

export class ModelSettingsStore {
  readonly file: string;
  #content: ModelSettingsFile = empty;
  /** The settings of models by all their names, until the file changes. */
  readonly #merged = new Map<string, ModelSettings>();
  readonly #listeners = new Set<() => void>();

  private constructor(file: string) {
    this.file = file;
  }

  /** Reads the file in the config folder, which need not be there. Throws ConfigError. */
  static async read(configDir: string): Promise<ModelSettingsStore> {
    const file = path.join(configDir, fileName);
    const store = new ModelSettingsStore(file);
    store.#content = parseSettings(file, await readText(file));
    return store;
  }

  /** The same, and follows its changes until the signal aborts. `isLenient`: a file that is wrong is reported, and has no settings. */
  static async follow(
    configDir: string,
    news: FileNews & { isLenient: boolean },
  ): Promise<ModelSettingsStore> {
    const file = path.join(configDir, fileName);
    const store = new ModelSettingsStore(file);
    let isFirst = true;
    const read = async (): Promise<ModelSettingsFile> => {
      try {
        return parseSettings(file, await readText(file));
      } catch (error) {
        if (!isFirst || !news.isLenient) throw error;
        news.onFailure(error);
        return empty;
      } finally {
        isFirst = false;
      }
    };
    const onChange = (content: ModelSettingsFile): void => store.#take(content);
    store.#content = await watchFiles({ ...news, files: [file], read, onChange });
    return store;
  }

  /** What the file says. */
  get content(): ModelSettingsFile {
    return this.#content;
  }

  /** Calls back after each change. */
  onChange(listener: () => void): void {
    this.#listeners.add(listener);
  }

  /** The settings under exactly this name. */
  own(name: string): ModelSettings {
    return this.#content.models[name] ?? {};
  }

  /** The settings of a model with these names: of each pattern that matches, then of each name. Longer ones outrank shorter ones. */
  settingsFor(names: readonly string[]): ModelSettings {
    const key = names.join("\n");
    const known = this.#merged.get(key);
    if (known !== undefined) return known;
    const entries = Object.entries(this.#content.models)
      .filter(([pattern]) => names.includes(pattern) || onlyModels([pattern])({ names }))
      .toSorted(([one], [other]) => rank(one) - rank(other));
    const merged = entries.reduce<ModelSettings>((all, [, each]) => mergeSettings(all, each), {});
    this.#merged.set(key, merged);
    return merged;
  }

  /** Every name that a model has besides its own. */
  aliases(names: readonly string[]): readonly string[] {
    return names.flatMap((name) => this.own(name).aliases ?? []);
  }

  /**
   * Replaces the settings of a name, or one of them at a place such as `["sampling", "temperature"]`; undefined removes. Comments and
   * everything else in the file stay. Throws `invalid_request` for settings that are wrong, and
   * `not_enabled` if the file cannot be changed.
   */
  async set(name: string, place: readonly string[], value: unknown): Promise<void> {
    const content = await this.#write(name, place, value);
    this.#take(content);
  }

  async #write(name: string, place: readonly string[], value: unknown): Promise<ModelSettingsFile> {
    const { file } = this;
    const change = async (): Promise<ModelSettingsFile> => {
      const text = await readText(file);
      parseSettings(file, text); // a file that is wrong elsewhere is not made worse
      const edits = modify(text === "" ? emptyText : text, ["models", name, ...place], value, {
        formattingOptions,
      });
      const changed = applyEdits(text === "" ? emptyText : text, edits);
      const content = parseSettings(file, changed);
      await replaceFile(file, changed);
      return content;
    };
    try {
      return await whileLocked(file, change);
    } catch (cause) {
      if (cause instanceof ConfigError) throw new WireError("invalid_request", cause.message, { cause });
      if (cause instanceof LockError) throw new WireError("not_enabled", cause.message, { cause });
      throw cause;
    }
  }

  #take(content: ModelSettingsFile): void {
    this.#content = content;
    this.#merged.clear();
    for (const listener of this.#listeners) listener();
  }
}

/** Names without patterns come last, longer ones after shorter ones. */
function rank(pattern: string): number {
  return pattern.includes("*") ? pattern.length : Number.MAX_SAFE_INTEGER / 2 + pattern.length;
}

/** Empty if the file is not there. Throws ConfigError if it cannot be read. */
async function readText(file: string): Promise<string> {
  try {
    const text = await readFile(file, "utf8");
    if (text.length > bytesMax) throw new ConfigError(file, `${file} is too large for settings.`);
    return text;
  } catch (cause) {
    if (cause instanceof ConfigError) throw cause;
    const code: unknown = cause instanceof Error ? Reflect.get(cause, "code") : undefined;
    if (code === "ENOENT" || code === "ENOTDIR") return "";
    throw new ConfigError(file, `${file} cannot be read.`, { cause });
  }
}

/** Throws ConfigError, which says where the text is wrong. */
function parseSettings(file: string, text: string): ModelSettingsFile {
  if (text.trim() === "") return empty;
  const errors: ParseError[] = [];
  const value: unknown = parse(text, errors, { allowTrailingComma: true });
  const [error] = errors;
  if (error !== undefined) {
    const line = text.slice(0, error.offset).split("\n").length;
    throw new ConfigError(
      file,
      `${file}, line ${line}: this is no JSON (${printParseErrorCode(error.error)}).`,
    );
  }
  const checked = ModelSettingsFile.safeParse(value);
  if (checked.success) return checked.data;
  const [issue] = checked.error.issues;
  const place = issue === undefined || issue.path.length === 0 ? "" : ` at ${issue.path.join(".")}`;
  throw new ConfigError(file, `${file} is wrong${place}: ${issue?.message ?? "it cannot be used"}.`);
}

/** Keeps a link in place, such as one into a folder of settings under version control. */
async function replaceFile(file: string, text: string): Promise<void> {
  try {
    await writeAtomically(await realpath(file).catch(() => file), text, 0o600);
  } catch (cause) {
    throw new ConfigError(file, `${file} cannot be written, so nothing was changed.`, { cause });
  }
}
