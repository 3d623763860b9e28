// Flags and settings of `ingle worker`.
import type { Flag, FlagsOf, SettingsIn, SettingTable } from "../settings/setting.ts";

export const workerSettings = {
  host: {
    flag: "--host <address>",
    kind: "text",
    rule: (rules) => rules.host,
    defaultText: "all addresses",
    help: "Address to listen on",
  },
  port: {
    flag: "--port <number>",
    kind: "integer",
    max: 65_535,
    defaultText: "50052",
    help: "Port to listen on; 0 picks any free port",
  },
  devices: {
    flag: "--device <names>",
    kind: "list",
    defaultText: "the GPUs, or the CPU without one",
    help: "Devices to offer, separated by commas; `ingle doctor` lists them",
  },
  memoryMiB: {
    flag: "--memory <MiB>",
    kind: "integer",
    min: 1,
    defaultText: "most of what is free",
    help: "Most memory to offer on each device",
  },
  threads: {
    flag: "--threads <number>",
    kind: "integer",
    min: 1,
    // ggml's limit.
    max: 512,
    defaultText: "one per core",
    help: "CPU threads to compute with",
  },
  keyFile: {
    flag: "--key-file <file>",
    variables: ["INGLE_RPC_KEY_FILE"],
    kind: "text",
    defaultText: "`worker.key` in the config folder",
    help: "Where the key is kept",
    details: "Only its owner should be able to read it.",
  },
} as const satisfies SettingTable;

export const pairFlag = {
  flag: "--pair [key]",
  kind: "text",
  help: "Make the key that both machines share, or save the key of the other machine",
  details:
    "Without a key: makes one unless there is one, prints it, and continues as a worker. With a key: saves it and exits; `-` " +
    "reads it from stdin, which keeps it out of the shell's history.",
} as const satisfies Flag;

export type WorkerFlags = FlagsOf<SettingsIn<typeof workerSettings> | typeof pairFlag>;
