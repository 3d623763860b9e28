// `ingle keys`: makes, lists and revokes the keys of a file for `ingle serve --keys`. A server that uses the file follows each change.
import { emptyKeyFile, KeyFile, makeKey, type KeyEntry } from "../../access/key-file.ts";
import { apiKeysMax } from "../../api-key.ts";
import { LockError, whileLocked } from "../../file-lock.ts";
import { present } from "../../present.ts";
import { StateFile } from "../../state-file.ts";
import type { FlagsIn, keyFlags } from "../command-flags.ts";
import type { CommandContext } from "../context.ts";
import { CliError, exitCodes, usageError } from "../errors.ts";
import { formatTable } from "../text.ts";

const dayMs = 24 * 60 * 60 * 1000;

/** Adds a key, and prints it: it is in no file. Returns the exit code. Throws CliError. */
export async function addKey(
  { file, name }: { file: string; name: string },
  flags: FlagsIn<typeof keyFlags>,
  { stdout, stderr }: CommandContext,
): Promise<number> {
  const { scope = "inference", models, tokensPerMinute, tokensPerDay, parallelRequests, priority } = flags;
  const { key, entry } = await makeKey({ name, scope: scope === "management" ? scope : "inference" });
  const terms = {
    models,
    tokens_per_minute: tokensPerMinute,
    tokens_per_day: tokensPerDay,
    parallel_requests: parallelRequests,
    priority,
    expires_at: flags.expires === undefined ? undefined : expiry(flags.expires),
  };
  const set = present(terms);
  await changeKeyFile(file, ({ keys }) => {
    const checked = KeyFile.safeParse({ version: 1, keys: [...keys, { ...entry, ...set }] });
    if (!checked.success) throw refused(name, checked.error.issues[0], keys);
    return checked.data;
  });
  stderr.write(`The key ${name}, which is shown only now:\n`);
  stdout.write(`${key}\n`);
  return exitCodes.ok;
}

/** Prints the keys of a file, without what would reveal them. Returns the exit code. Throws CliError. */
export async function listKeys(file: string, { stdout, stderr }: CommandContext): Promise<number> {
  const { keys } = (await openKeyFile(file)).current;
  if (keys.length === 0) stderr.write(`${file} holds no key.\n`);
  else stdout.write(formatTable([["NAME", "KEY", "SCOPE", "LIMITS"], ...keys.map(toRow)]));
  return exitCodes.ok;
}

/** Removes keys by their names. Returns the exit code. Throws CliError. */
export async function revokeKeys(
  { file, names }: { file: string; names: readonly string[] },
  { stdout }: CommandContext,
): Promise<number> {
  await changeKeyFile(file, ({ keys }) => {
    const unknown = names.find((name) => !keys.some((key) => key.name === name));
    if (unknown !== undefined) throw new CliError(`${file} holds no key of the name ${unknown}.`);
    return { version: 1, keys: keys.filter(({ name }) => !names.includes(name)) };
  });
  for (const name of names) stdout.write(`Revoked ${name}.\n`);
  return exitCodes.ok;
}

async function openKeyFile(file: string): Promise<StateFile<KeyFile>> {
  const kept = await StateFile.open(file, KeyFile, emptyKeyFile);
  if (kept.problem !== undefined) throw new CliError(kept.problem);
  return kept;
}

async function changeKeyFile(file: string, change: (current: KeyFile) => KeyFile): Promise<void> {
  try {
    await whileLocked(file, async () => await (await openKeyFile(file)).change(change));
  } catch (error) {
    throw error instanceof LockError ? new CliError(error.message, { cause: error.cause }) : error;
  }
}

/** A day count such as `30d`, or a time. */
function expiry(text: string): string {
  const [, days] = /^(\d{1,5})d$/.exec(text) ?? [];
  const time = days === undefined ? Date.parse(text) : Date.now() + Number(days) * dayMs;
  if (Number.isFinite(time)) return new Date(time).toISOString();
  throw usageError(
    `--expires takes a number of days such as 30d, or a time such as 2027-01-31: not ${text}.`,
  );
}

function refused(
  name: string,
  issue: { path: PropertyKey[]; message: string } | undefined,
  keys: readonly KeyEntry[],
): CliError {
  if (keys.some((key) => key.name === name))
    return new CliError(`There is a key of the name ${name} already.`);
  if (keys.length === apiKeysMax) return new CliError(`A file holds at most ${apiKeysMax} keys.`);
  return usageError(`The key cannot be made: ${String(issue?.path.at(-1))} ${issue?.message}.`);
}

function toRow({ name, ending, scope, ...entry }: KeyEntry): string[] {
  const { models, tokens_per_minute, tokens_per_day, parallel_requests, priority, expires_at } = entry;
  const limits = [
    models?.join(" "),
    tokens_per_minute === undefined ? undefined : `${tokens_per_minute.toLocaleString("en")} tokens a minute`,
    tokens_per_day === undefined ? undefined : `${tokens_per_day.toLocaleString("en")} tokens a day`,
    parallel_requests === undefined ? undefined : `${parallel_requests} at a time`,
    priority === undefined ? undefined : `${priority} priority`,
    expires_at === undefined ? undefined : `until ${expires_at}`,
  ].filter((limit) => limit !== undefined);
  return [name, `…${ending}`, scope, limits.length === 0 ? "none" : limits.join(", ")];
}
