// What the app's `/v1` server is started with, kept in a file. Each change is checked by the rules of the command line's
// settings, and written before it holds.
import { ServerSettings, type ServerSettingsChange } from "@ingle/protocol";
import { z } from "zod";
import { ruleOf } from "../settings/resolve.ts";
import { settings as serverSettings } from "../settings/settings.ts";
import { variants } from "../variants.ts";
import { WireError } from "../wire-error.ts";
import { StateFile } from "./state-file.ts";

/** Of the fields that have more than a shape. */
const rules = [
  ["host", ruleOf(serverSettings.host)],
  ["allow_hosts", ruleOf(serverSettings.allowHosts)],
  ["allow_origins", ruleOf(serverSettings.allowOrigins)],
] as const;

const SettingsFile = z.object({
  version: z.literal(1),
  settings: ServerSettings.refine((settings) => firstIssue(settings) === undefined),
});
type SettingsFile = z.infer<typeof SettingsFile>;

export const defaultSettings: ServerSettings = {
  variant: "desktop",
  host: variants.desktop.host,
  port: variants.desktop.port,
  allow_hosts: [],
  allow_origins: [],
  parallel: null,
  models: [],
  starts_with_app: false,
};

export class KeptSettings {
  readonly #file: StateFile<SettingsFile>;

  private constructor(file: StateFile<SettingsFile>) {
    this.#file = file;
  }

  static async open(file: string): Promise<KeptSettings> {
    return new KeptSettings(
      await StateFile.open(file, SettingsFile, { version: 1, settings: defaultSettings }),
    );
  }

  get current(): ServerSettings {
    return this.#file.current.settings;
  }

  /** Why the file could not be used, in a sentence; the settings are the default ones then. */
  get problem(): string | undefined {
    return this.#file.problem;
  }

  /** Resolves when the changes that were asked for are made, or have failed. */
  async settled(): Promise<void> {
    await this.#file.settled();
  }

  /** `assertAllowed` throws where it is too late for a change. Throws `invalid_request` for a value that cannot be. */
  async change(change: ServerSettingsChange, assertAllowed: () => void): Promise<void> {
    await this.#file.change(({ settings }) => {
      assertAllowed();
      return { version: 1, settings: settingsAfter(settings, change) };
    });
  }
}

/** Throws `invalid_request` for a value that cannot be. */
export function settingsAfter(settings: ServerSettings, change: ServerSettingsChange): ServerSettings {
  // The schema leaves out what it does not know.
  const after = ServerSettings.parse({ ...settings, ...change });
  const isPortUsual = settings.port === variants[settings.variant].port;
  if (change.variant !== undefined && change.port === undefined && isPortUsual)
    after.port = variants[after.variant].port;
  const problem = firstIssue(after);
  if (problem === undefined) return after;
  const { param, why } = problem;
  throw new WireError("invalid_request", `${param} ${why}`, { param });
}

function firstIssue(settings: ServerSettings): { param: string; why: string } | undefined {
  for (const [param, rule] of rules) {
    const checked = rule.safeParse(settings[param]);
    if (!checked.success) return { param, why: checked.error.issues[0]?.message ?? "cannot be used" };
  }
  return undefined;
}
