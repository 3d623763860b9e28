// The rules of settings, as schemas. Each message is the end of a sentence that begins with the flag or the variable.
import { isIP } from "node:net";
import {
  CpuMask,
  CpuRange,
  DeviceNames,
  GpuLayers,
  KvOverrides,
  TensorOverrides,
  TensorSplit,
} from "@ingle/engine/device-options";
import { AdapterLayers, AdapterName, adaptersMax } from "@ingle/engine/adapter-options";
import { ChatTemplate } from "@ingle/engine/chat-template";
import { expandTilde } from "@ingle/engine/home";
import { WorkerAddress, workersMax } from "@ingle/engine/worker-address";
import { KvBits } from "@ingle/protocol/kv-bits";
import { z } from "zod";
import { AllowedHost, HostName, isHostName, AllowedOrigin } from "../access/origins.ts";
import { isAddressOrNetwork } from "../access/ip-address.ts";
import { apiKeysMax, hashKey } from "../api-key.ts";
import type { OnLoading } from "../variants.ts";

/** The longest time that Node's timers can wait: with one more millisecond they fire at once. */
export const timeMsMax = 2 ** 31 - 1;

/** Maximum length of a path, a name or another text of a setting. */
const textLengthMax = 4096;

const timeRule = 'must be a time such as "30s", "5m" or "250ms"';
const unitMilliseconds: Readonly<Record<string, number>> = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000 };

/** A whole number with a unit, or of seconds without one, in milliseconds. */
export function time({ min = 0 }: { min?: number | undefined } = {}) {
  return z
    .string(timeRule)
    .regex(/^\d{1,12}(ms|s|m|h)?$/, timeRule)
    .transform(toMilliseconds)
    .refine((ms) => ms >= min, `must be at least ${min} ms`)
    .refine((ms) => ms <= timeMsMax, "must be at most 24 days");
}

function toMilliseconds(text: string): number {
  const unit = /[a-z]+$/.exec(text)?.[0] ?? "s";
  return Number.parseInt(text, 10) * (unitMilliseconds[unit] ?? 1);
}

export function integer({ min = 0, max = Number.MAX_SAFE_INTEGER }: { min?: number; max?: number }) {
  return z
    .int("must be a whole number")
    .min(min, `must be at least ${min}`)
    .max(max, `must be at most ${max}`);
}

export function decimal({ min = -Infinity, max = Infinity }: { min?: number; max?: number }) {
  return z.number("must be a number").min(min, `must be at least ${min}`).max(max, `must be at most ${max}`);
}

export const toggle = z.boolean("must be true or false");

export function choiceRule(choices: readonly string[]) {
  const quoted = choices.map((choice) => `"${choice}"`);
  const words = [quoted.slice(0, -1).join(", "), quoted.at(-1)].filter((part) => part !== "").join(" or ");
  return z.enum(choices, `must be ${words}`);
}

/** A path, or the name of a model. */
export const text = z
  .string()
  .min(1, "must not be empty")
  .max(textLengthMax, `must be at most ${textLengthMax} characters`);

/** A path: `~` is the home folder, which shells do not expand in variables and in `--flag=~/x`. */
export const path = text.transform(expandTilde);

export const list = z.array(z.string().min(1, "must not be empty"));

export const host = z.string().refine(isHostName, "must be an address or a host name");
export const allowedHosts = z.array(AllowedHost);
export const hostNames = z.array(HostName);
export const allowedOrigins = z.array(AllowedOrigin);
export const networks = z.array(
  z.string().refine(isAddressOrNetwork, "must be addresses or networks such as 127.0.0.1 or 10.0.0.0/8"),
);

const loraRule = "must be name=file, with names of up to 64 letters, digits, dots, hyphens and underscores";

/** As vLLM has them. */
export const loraModules = z
  .array(
    z
      .string()
      .regex(/^[^=]+=.+$/s, loraRule)
      .transform((module) => {
        const at = module.indexOf("=");
        return { name: module.slice(0, at), path: expandTilde(module.slice(at + 1)) };
      })
      .refine(({ name }) => AdapterName.safeParse(name).success, loraRule),
  )
  .max(adaptersMax, `must be at most ${adaptersMax} adapters`)
  .refine((all) => new Set(all.map(({ name }) => name)).size === all.length, "must have different names");

const layerRangeRule = "must be the first and the last layer, 10-31 for example";
export const layerRange = z
  .string()
  .regex(/^\d{1,5}-\d{1,5}$/, layerRangeRule)
  .transform((range) => {
    const [first = 0, last = 0] = range.split("-").map(Number);
    return { first, last };
  })
  .refine((range) => AdapterLayers.safeParse(range).success, layerRangeRule);

/** Only digests of keys are kept, so that neither a log of the config nor a heap dump shows a key. */
export const keyDigests = z
  .array(z.string().transform(hashKey))
  .max(apiKeysMax, `must be at most ${apiKeysMax} keys`);

export const kvBits = KvBits;
export const chatTemplate = ChatTemplate;

/** A list whose entries are checked one by one. If it is not given, it is undefined instead of empty. */
const commaSeparated = text.transform((entries) => entries.split(",").map((entry) => entry.trim()));

export const deviceNames = commaSeparated.pipe(DeviceNames);
export const tensorOverrides = commaSeparated.pipe(TensorOverrides);
export const kvOverrides = commaSeparated.pipe(KvOverrides);
export const cpuMask = CpuMask;
export const cpuRange = CpuRange;

export const tensorSplit = commaSeparated
  .transform((shares) => shares.map((share) => (share === "" ? Number.NaN : Number(share))))
  .pipe(TensorSplit);

export const gpuLayers = text
  .transform((layers) => (/^\d+$/.test(layers) ? Number(layers) : layers))
  .pipe(GpuLayers);

/** A variant may also have `reject-at-start`: requests wait, but are rejected until a first model has been loaded. */
export const onLoading = z.enum(
  ["wait", "reject", "reject-at-start"] as const satisfies OnLoading[],
  'must be "wait" or "reject"',
);

/** The address of a listening socket. */
export interface TcpEndpoint {
  host: string;
  /** 0 takes any free one. */
  port: number;
}

const endpointForm = /^tcp:\/\/(?<host>\*|\[[0-9a-f:.]+\]|[a-z0-9_.-]+):(?<port>\d{1,5})$/i;
const endpointHelp = 'must be an address to listen on, such as "tcp://*:5557" or "tcp://127.0.0.1:5557"';

/** Converts a text to `{ host, port }`; `*` means every address of the machine. */
export const endpoint = z.string().transform((written, context): TcpEndpoint => {
  const { host: name = "", port: digits = "" } = endpointForm.exec(written)?.groups ?? {};
  const portNumber = Number(digits);
  const bare = name.replace(/^\[|\]$/g, "");
  if (name === "" || portNumber > 65_535 || (name !== bare && isIP(bare) !== 6)) {
    context.addIssue({ code: "custom", message: endpointHelp });
    return z.NEVER;
  }
  return { host: bare === "*" ? "0.0.0.0" : bare, port: portNumber };
});

/** The engine parses them again; this finds typos before anything starts. */
export const workers = z
  .array(
    z
      .string()
      .refine(
        (address) => WorkerAddress.safeParse(address).success,
        "must be host:port, such as 192.168.1.20:50052",
      ),
  )
  .min(1, "must name a worker")
  .max(workersMax, `must be at most ${workersMax} workers`);
