// Runs npm and other programs that are scripts on Windows.
import { execFile } from "node:child_process";
import { promisify } from "node:util";

/** Far more than an installation prints. */
const outputBytesMax = 16 * 1024 * 1024;
/** Enough for an installation over a slow network on a busy machine. */
const toolMaxMs = 600_000;

export interface ToolOptions {
  readonly cwd: string;
  /** Default: this process's. */
  readonly env?: NodeJS.ProcessEnv;
}

/** The tool's stdout. Rejects with its stderr if it fails. */
export async function runTool(name: string, args: readonly string[], options: ToolOptions): Promise<string> {
  const shell = process.platform === "win32";
  try {
    const { stdout } = await promisify(execFile)(name, shell ? args.map((each) => `"${each}"`) : args, {
      ...options,
      timeout: toolMaxMs,
      maxBuffer: outputBytesMax,
      shell,
    });
    return stdout;
  } catch (cause) {
    const printed = ["stderr", "stdout"]
      .map((stream) => String(Reflect.get(Object(cause), stream)))
      .join("\n");
    throw new Error(`${name} ${args.join(" ")} failed in ${options.cwd}:\n${printed}`, { cause });
  }
}
