// The user's npm settings (project, user, global and built-in npmrc files, npm_config_* variables), read by npm's own code.
import path from "node:path";
import { EngineError } from "../base/errors.ts";

export interface NpmSettings {
  /** The options of npm-registry-fetch: registries, tokens, proxy, certificates. */
  flat: Readonly<Record<string, unknown>>;
  /** Host of the public registry, which tarball addresses contain even if a mirror serves them. */
  publicHost: string;
}

/** Reads the settings for a command started in `cwd`. Throws `invalid_request` if npm itself would refuse them. */
export async function loadNpmSettings(env: NodeJS.ProcessEnv, cwd: string): Promise<NpmSettings> {
  const { default: Config } = await import("@npmcli/config");
  const { default: table } = await import("@npmcli/config/lib/definitions/index.js");
  const config = new Config({
    definitions: table.definitions,
    shorthands: table.shorthands,
    flatten: table.flatten,
    npmPath: npmFolder(),
    // Ingle's command line is not npm's, and npm changes the given environment.
    argv: [],
    env: { ...env },
    cwd,
  });
  try {
    await config.load();
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new EngineError(
      "invalid_request",
      `Your npm settings could not be read: ${reason}. Check \`npm config list\`.`,
      { cause: error },
    );
  }
  return { flat: config.flat, publicHost: new URL(table.defaults.registry).hostname };
}

/** The folder of the npm that came with this Node; its built-in npmrc may have settings of the distribution. */
function npmFolder(): string {
  const nodeFolder = path.dirname(process.execPath);
  return process.platform === "win32"
    ? path.join(nodeFolder, "node_modules", "npm")
    : path.join(nodeFolder, "..", "lib", "node_modules", "npm");
}
