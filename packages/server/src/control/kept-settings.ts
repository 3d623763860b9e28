// The settings of the app's `/v1` server, kept in a file. Each change is checked by the rules of the command line's settings, and
// written to the file before it takes effect.
import { ServerSettings, type ServerSettingsChange } from "@ingle/protocol";
import { z } from "zod";
import { settingRule } from "../settings/resolve.ts";
import { settings as serverSettings } from "../settings/settings.ts";
import { variants } from "../variants.ts";
import { WireError } from "../wire-error.ts";
import { StateFile } from "../state-file.ts";

/** Fields with rules beyond their schema. */
const rules = [
  ["host", settingRule(serverSettings.host)],
  ["allow_hosts", settingRule(serverSettings.allowHosts)],
  ["allow_origins", settingRule(serverSettings.allowOrigins)],
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

  /** A sentence that says why the file could not be used. The settings are the defaults then. */
  get problem(): string | undefined {
    return this.#file.problem;
  }

  /** Resolves when all requested changes are written or have failed. */
  async settled(): Promise<void> {
    await this.#file.settled();
  }

  /** `assertAllowed` throws if it is too late for a change. Throws `invalid_request` for an invalid value. */
  async change(change: ServerSettingsChange, assertAllowed: () => void): Promise<void> {
    await this.#file.change(({ settings }) => {
      assertAllowed();
      return { version: 1, settings: settingsAfter(settings, change) };
    });
  }
}

/** Throws `invalid_request` for an invalid value. */
export function settingsAfter(settings: ServerSettings, change: ServerSettingsChange): ServerSettings {
  // The schema drops unknown fields.
  const after = ServerSettings.parse({ ...settings, ...change });
  const isDefaultPort = settings.port === variants[settings.variant].port;
  if (change.variant !== undefined && change.port === undefined && isDefaultPort)
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
