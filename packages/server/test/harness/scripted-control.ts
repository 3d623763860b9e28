// The app's control server over scripted models, and the server that it starts, for tests.
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import type { ServerSettingsChange } from "@ingle/protocol";
import { ControlledServer, type ControlledServerOptions } from "../../src/control/controlled-server.ts";
import { KeptKeys } from "../../src/control/kept-keys.ts";
import { KeptSettings } from "../../src/control/kept-settings.ts";

export interface ScriptedControl extends AsyncDisposable {
  server: ControlledServer;
  keys: KeptKeys;
  settings: KeptSettings;
  /** What the server reported to its log. */
  failures: unknown[];
  /** Where its two files are. */
  folder: string;
}

type Overrides = Partial<Pick<ControlledServerOptions, "loadModels" | "listen">>;

/** A server that loads nothing and does not listen, unless `overrides` do. */
export async function scriptedControl(
  overrides: Overrides = {},
  change: ServerSettingsChange = {},
): Promise<ScriptedControl> {
  const folder = await mkdtemp(path.join(tmpdir(), "ingle-control-"));
  const keys = await KeptKeys.open(path.join(folder, "keys.json"));
  const settings = await KeptSettings.open(path.join(folder, "server.json"));
  await settings.change(change, () => {});
  const failures: unknown[] = [];
  const server = new ControlledServer({
    settings,
    keys,
    loadModels: async () => {},
    listen: async () => {
      throw new Error("Nothing listens in this test.");
    },
    ...overrides,
    onFailure: (error) => failures.push(error),
  });
  const end = async (): Promise<void> => {
    await server.stop({ deadlineMs: 0 });
    await rm(folder, { recursive: true, force: true });
  };
  return { server, keys, settings, failures, folder, [Symbol.asyncDispose]: end };
}
