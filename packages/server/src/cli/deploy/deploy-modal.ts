// `ingle deploy modal`: runs `modal deploy` on deploy/modal/deploy.py, waits until the first container is ready, sends it one request,
// and prints the address.
import { existsSync } from "node:fs";
import path from "node:path";
import { stripVTControlCharacters } from "node:util";
import { whyNotTaken } from "../../api-key.ts";
import { packageFolder } from "../../this-package.ts";
import { time } from "../../settings/rules.ts";
import { flagName, longFlag, type Flag } from "../../settings/setting.ts";
import { exitCodes, CliError, usageError } from "../errors.ts";
import type { CommandContext } from "../context.ts";
import { modalFlags, timeoutFlag, type FlagsIn } from "../command-flags.ts";
import { runProgram } from "./run-program.ts";
import { DeployedServer } from "./deployed-server.ts";
import { curlLine, formatColumns, formatDuration, shellWord } from "../text.ts";

/** The folder of deploy.py. The package's own folder is tried first: two folders above it may be somebody's project. */
const ofPackage = path.join(packageFolder, "modal/deploy.py");
const ofCheckout = path.join(packageFolder, "../../deploy/modal/deploy.py");

type ModalFlags = FlagsIn<typeof modalFlags>;

/** Returns the exit code. Throws CliError if the deployment does not become ready. */
export async function deployModal(
  flags: ModalFlags,
  serveFlags: readonly string[],
  context: CommandContext,
): Promise<number> {
  const { stderr, stdout, now } = context;
  const timeoutMs = milliseconds("--timeout", flags.timeout ?? timeoutFlag.default);
  const settings = modalSettings(flags, serveFlags);
  const env = { ...context.env, ...settings };
  const script = findScript(env);
  const access = chooseAccess(flags, env);
  if (access.isOpen) stderr.write("Anyone who knows the address can use this deployment: it has no key.\n");

  const address = await deploy(script, env, context);
  const server = new DeployedServer(address, access.headers, context);
  stderr.write(`\nDeployed at ${address}. Waiting for the first container …\n`);
  const startMs = await server.untilReady({
    timeoutMs,
    hint: `\`modal app logs ${env["INGLE_MODAL_NAME"] ?? "ingle"}\` shows its log.`,
  });
  const id = await server.modelId();
  const requestedAt = now();
  await server.warmUp(id);
  const rows: [string, string][] = [
    ["  address", address],
    ["  model", id],
    ["  cold start", `${formatDuration(startMs)} until it was ready`],
    ["  first reply", `after ${formatDuration(now() - requestedAt)}`],
  ];
  stdout.write(
    `\nIngle is deployed.\n\n${formatColumns(rows)}\n  ${curlLine(address, id, { keyed: access.keyed, headers: access.shown })}\n`,
  );
  return exitCodes.ok;
}

/** The variables of deploy.py that the flags set. */
function modalSettings(flags: ModalFlags, serveFlags: readonly string[]): Record<string, string> {
  const values: Readonly<Record<string, unknown>> = flags;
  const set: Record<string, string> = {};
  for (const flag of modalFlags) {
    const value = values[flagName(flag)];
    const [variable] = flag.variables ?? [];
    if (value !== undefined && variable !== undefined) set[variable] = variableText(flag, value);
  }
  if (serveFlags.length > 0) set["INGLE_MODAL_SERVE_FLAGS"] = serveFlags.map(shellWord).join(" ");
  return set;
}

function variableText(flag: Flag, value: unknown): string {
  const text = String(value);
  if (flag.kind === "toggle") return "1";
  if (flag.kind === "time") return String(Math.ceil(milliseconds(longFlag(flag), text) / 1_000));
  return longFlag(flag) === "--source" ? path.resolve(text) : text;
}

function milliseconds(flag: string, text: string): number {
  const parsed = time({ min: 1_000 }).safeParse(text);
  if (parsed.success) return parsed.data;
  throw usageError(`${flag} ${parsed.error.issues[0]?.message ?? "cannot be used"}.`);
}

/** An installed package has no sources to build an image from. A checkout has a copy of the script while it is packed. */
function findScript(env: NodeJS.ProcessEnv): string {
  if (existsSync(ofCheckout)) return ofCheckout;
  if ((env["INGLE_MODAL_IMAGE"] ?? env["INGLE_MODAL_SOURCE"] ?? "") === "")
    throw usageError(
      "The image is built from Ingle's sources, which an installed package does not have. Use --source to name a checkout, or --image " +
        "to name an image that contains Ingle.",
    );
  return ofPackage;
}

interface Access {
  /** Sent with every request to the deployment. */
  readonly headers: Readonly<Record<string, string>>;
  /** Headers of the printed command, with placeholders for secrets. */
  readonly shown: readonly string[];
  readonly keyed: boolean;
  /** Whether requests need neither token nor key. */
  readonly isOpen: boolean;
}

/** What requests need: Modal's proxy token, Ingle's own key, both or nothing. */
function chooseAccess(flags: ModalFlags, env: NodeJS.ProcessEnv): Access {
  const whyNot = flags.apiKey === undefined ? undefined : whyNotTaken(flags.apiKey, { allowsShort: false });
  if (whyNot !== undefined) throw usageError(`--api-key ${whyNot}.`);
  if (flags.apiKey?.includes(",") === true) throw usageError("--api-key must not contain a comma.");
  const key = env["INGLE_API_KEYS"]?.split(",", 1)[0]?.trim() ?? "";
  const headers: Record<string, string> = key === "" ? {} : { authorization: `Bearer ${key}` };
  if (env["INGLE_MODAL_PUBLIC"] === "1") return { headers, shown: [], keyed: key !== "", isOpen: key === "" };
  const { MODAL_KEY: tokenId = "", MODAL_SECRET: tokenSecret = "" } = env;
  if (tokenId === "" || tokenSecret === "")
    throw usageError(
      "Modal's proxy requires a token with every request. Create one with `modal workspace proxy-tokens create`, set MODAL_KEY and " +
        "MODAL_SECRET to its two parts, and deploy again; or use --public to deploy without one.",
    );
  return {
    headers: { ...headers, "modal-key": tokenId, "modal-secret": tokenSecret },
    shown: ["Modal-Key: YOUR_MODAL_KEY", "Modal-Secret: YOUR_MODAL_SECRET"],
    keyed: key !== "",
    isOpen: false,
  };
}

/** Returns the address that `modal deploy` prints. Its output goes to stderr as it arrives. */
async function deploy(
  script: string,
  env: NodeJS.ProcessEnv,
  { stderr, shutdown }: CommandContext,
): Promise<string> {
  let address: string | undefined;
  const { code, isMissing } = await runProgram("modal", ["deploy", script], {
    cwd: path.dirname(script),
    // Keeps its lines whole, and unbuffered.
    env: { ...env, COLUMNS: "1000", PYTHONUNBUFFERED: "1" },
    signal: shutdown.signal,
    onLine: (line) => {
      stderr.write(`${line}\n`);
      address ??= addressIn(line);
    },
  });
  if (isMissing)
    throw new CliError(
      "The `modal` program was not found. Install it with `pip install modal`, sign in with `modal setup`, and deploy again.",
    );
  if (code !== 0) throw new CliError(`\`modal deploy\` failed (${code}). Its output is above.`);
  if (address !== undefined) return address;
  throw new CliError(
    "`modal deploy` printed no web address. The app was deployed: `modal app list` shows it, and its page has the address.",
  );
}

/** "Created web function serve => https://…" and "Created flash service endpoint for Server => https://…". */
function addressIn(line: string): string | undefined {
  const [, address] = /=> (https?:\/\/\S+)/.exec(stripVTControlCharacters(line)) ?? [];
  return address?.replace(/\/+$/, "");
}
