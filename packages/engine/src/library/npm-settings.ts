// The user's own npm settings (project, user, global and built-in npmrc files, npm_config_* variables), read the way
// npm reads them. Used by npm-registry.ts.
import path from "node:path";
import { EngineError } from "../errors.ts";

export interface NpmSettings {
  /** What npm-registry-fetch takes as options: registries, tokens, proxy, certificates. */
  flat: Readonly<Record<string, unknown>>;
  /** Host of the public registry, which tarball addresses name even when a mirror serves them. */
  publicHost: string;
}

/** Reads the settings for a command started in `cwd`. Throws `invalid_request` when npm itself would refuse them. */
export async function loadNpmSettings(env: NodeJS.ProcessEnv, cwd: string): Promise<NpmSettings> {
  const { default: Config } = await import("@npmcli/config");
  const { default: table } = await import("@npmcli/config/lib/definitions/index.js");
  const config = new Config({
    definitions: table.definitions,
    shorthands: table.shorthands,
    flatten: table.flatten,
    npmPath: npmFolder(),
    // Our own command line is not npm's, and npm writes into the environment it is given.
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
      `Your npm settings could not be read: ${reason}. Look at \`npm config list\`.`,
      { cause: error },
    );
  }
  return { flat: config.flat, publicHost: new URL(table.defaults.registry).hostname };
}

/** Where the npm that came with this Node lies; its built-in npmrc may hold settings of the distribution. */
function npmFolder(): string {
  const nodeFolder = path.dirname(process.execPath);
  return process.platform === "win32"
    ? path.join(nodeFolder, "node_modules", "npm")
    : path.join(nodeFolder, "..", "lib", "node_modules", "npm");
}
