// `ingle deploy modal`: has the `modal` program deploy deploy/modal/deploy.py, waits until the first container answers, sends it
// one request, and prints where it is.
import { existsSync } from "node:fs";
import path from "node:path";
import { stripVTControlCharacters } from "node:util";
import { fileURLToPath } from "node:url";
import { whyNotTaken } from "../../api-key.ts";
import { duration } from "../../duration.ts";
import { exitCodes, CliError, usageError } from "../cli-error.ts";
import type { CommandContext } from "../context.ts";
import type { DeployModalFlags } from "./deploy-commands.ts";
import { runProgram } from "./run-program.ts";
import { DeployedServer } from "./deployed-server.ts";
import { curlLine, formatColumns, formatDuration, shellWord } from "../text.ts";

/** Where deploy.py is: in a checkout, and in the installed package. */
const scripts = ["../../../../../deploy/modal/deploy.py", "../../../modal/deploy.py"] as const;

/** Which variable of deploy.py a flag sets. */
const variables = [
  ["model", "MODEL_NAME"],
  ["name", "INGLE_MODAL_NAME"],
  ["form", "INGLE_MODAL_FORM"],
  ["gpu", "INGLE_MODAL_GPU"],
  ["region", "INGLE_MODAL_REGION"],
  ["minContainers", "INGLE_MODAL_MIN_CONTAINERS"],
  ["maxContainers", "INGLE_MODAL_MAX_CONTAINERS"],
  ["bufferContainers", "INGLE_MODAL_BUFFER_CONTAINERS"],
  ["targetConcurrency", "INGLE_MODAL_TARGET_CONCURRENCY"],
  ["maxConcurrency", "INGLE_MODAL_MAX_CONCURRENCY"],
  ["apiKey", "INGLE_API_KEYS"],
  ["image", "INGLE_MODAL_IMAGE"],
] as const satisfies readonly [keyof DeployModalFlags, string][];

/** Returns the exit code. Throws CliError with what keeps the deployment from answering. */
export async function deployModal(
  flags: DeployModalFlags,
  serveFlags: readonly string[],
  context: CommandContext,
): Promise<number> {
  const { stderr, stdout, now } = context;
  const timeoutMs = milliseconds("--timeout", flags.timeout);
  const settings = modalSettings(flags, serveFlags);
  const env = { ...context.env, ...settings };
  const script = findScript(env);
  const access = accessOf(flags, env);
  if (access.isOpen) stderr.write("Anybody who knows the address can use this deployment: it has no key.\n");

  const address = await deploy(script, env, context);
  const server = new DeployedServer(address, access.headers, context);
  stderr.write(`\nDeployed at ${address}. Waiting for a container that answers …\n`);
  const startMs = await server.untilReady({
    timeoutMs,
    hint: `\`modal app logs ${env["INGLE_MODAL_NAME"] ?? "ingle"}\` has its log.`,
  });
  const id = await server.modelId();
  const askedAt = now();
  await server.warmUp(id);
  const rows: [string, string][] = [
    ["  address", address],
    ["  model", id],
    ["  cold start", `${formatDuration(startMs)} until it answered`],
    ["  first reply", `after ${formatDuration(now() - askedAt)}`],
  ];
  stdout.write(
    `\nIngle is deployed.\n\n${formatColumns(rows)}\n  ${curlLine(address, id, { keyed: access.keyed, headers: access.shown })}\n`,
  );
  return exitCodes.ok;
}

/** What deploy.py is told. */
function modalSettings(flags: DeployModalFlags, serveFlags: readonly string[]): Record<string, string> {
  const settings: Record<string, string> = {};
  for (const [flag, variable] of variables) {
    if (flags[flag] !== undefined) settings[variable] = String(flags[flag]);
  }
  if (flags.source !== undefined) settings["INGLE_MODAL_SOURCE"] = path.resolve(flags.source);
  if (flags.startupTimeout !== undefined)
    settings["INGLE_MODAL_STARTUP_TIMEOUT"] = seconds("--startup-timeout", flags.startupTimeout);
  if (flags.scaledownWindow !== undefined)
    settings["INGLE_MODAL_SCALEDOWN_WINDOW"] = seconds("--scaledown-window", flags.scaledownWindow);
  if (flags.snapshot === true) settings["INGLE_MODAL_SNAPSHOT"] = "1";
  if (flags.public === true) settings["INGLE_MODAL_PUBLIC"] = "1";
  if (serveFlags.length > 0) settings["INGLE_MODAL_SERVE_FLAGS"] = serveFlags.map(shellWord).join(" ");
  return settings;
}

function milliseconds(flag: string, time: string): number {
  const parsed = duration({ minMs: 1_000 }).safeParse(time);
  if (parsed.success) return parsed.data;
  throw usageError(`${flag} ${parsed.error.issues[0]?.message ?? "cannot be used"}.`);
}

function seconds(flag: string, time: string): string {
  return String(Math.ceil(milliseconds(flag, time) / 1_000));
}

/** An installed package has no sources to build an image of. */
function findScript(env: NodeJS.ProcessEnv): string {
  const [ofCheckout, ofPackage] = scripts.map((place) => fileURLToPath(new URL(place, import.meta.url)));
  if (ofCheckout !== undefined && existsSync(ofCheckout)) return ofCheckout;
  if ((env["INGLE_MODAL_IMAGE"] ?? env["INGLE_MODAL_SOURCE"] ?? "") === "")
    throw usageError(
      "The image is built of Ingle's sources, and this is an installed package without them: name a checkout with --source, " +
        "or an image with Ingle in it with --image.",
    );
  return ofPackage ?? "";
}

interface Access {
  /** Sent with every request to the deployment. */
  readonly headers: Readonly<Record<string, string>>;
  /** Headers of the printed command, with placeholders for secrets. */
  readonly shown: readonly string[];
  readonly keyed: boolean;
  /** Nothing is asked of anybody. */
  readonly isOpen: boolean;
}

/** What requests need: Modal's proxy token, Ingle's own key, both or nothing. */
function accessOf(flags: DeployModalFlags, env: NodeJS.ProcessEnv): Access {
  const whyNot = flags.apiKey === undefined ? undefined : whyNotTaken(flags.apiKey, { allowsShort: false });
  if (whyNot !== undefined) throw usageError(`--api-key ${whyNot}.`);
  if (flags.apiKey?.includes(",") === true) throw usageError("--api-key must not hold a comma.");
  const key = env["INGLE_API_KEYS"]?.split(",", 1)[0]?.trim() ?? "";
  const headers: Record<string, string> = key === "" ? {} : { authorization: `Bearer ${key}` };
  if (env["INGLE_MODAL_PUBLIC"] === "1") return { headers, shown: [], keyed: key !== "", isOpen: key === "" };
  const { MODAL_KEY: tokenId = "", MODAL_SECRET: tokenSecret = "" } = env;
  if (tokenId === "" || tokenSecret === "")
    throw usageError(
      "Modal's proxy asks every request for a token. Make one with `modal workspace proxy-tokens create`, set MODAL_KEY and " +
        "MODAL_SECRET to its two parts, and deploy again; --public deploys without.",
    );
  return {
    headers: { ...headers, "modal-key": tokenId, "modal-secret": tokenSecret },
    shown: ["Modal-Key: YOUR_MODAL_KEY", "Modal-Secret: YOUR_MODAL_SECRET"],
    keyed: key !== "",
    isOpen: false,
  };
}

/** Returns the address that `modal deploy` prints. What it says goes to stderr as it comes. */
async function deploy(
  script: string,
  env: NodeJS.ProcessEnv,
  { stderr, shutdown }: CommandContext,
): Promise<string> {
  let address: string | undefined;
  const { code, isMissing } = await runProgram("modal", ["deploy", script], {
    cwd: path.dirname(script),
    // Its lines are not broken where a terminal would end, and come as they are written.
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
  if (code !== 0) throw new CliError(`\`modal deploy\` ended with ${code}: what it said is above.`);
  if (address !== undefined) return address;
  throw new CliError(
    "`modal deploy` printed no web address. The deployment is there: `modal app list` shows it, and its page has the address.",
  );
}

/** "Created web function serve => https://…" and "Created flash service endpoint for Server => https://…". */
function addressIn(line: string): string | undefined {
  const [, address] = /=> (https?:\/\/\S+)/.exec(stripVTControlCharacters(line)) ?? [];
  return address?.replace(/\/+$/, "");
}
