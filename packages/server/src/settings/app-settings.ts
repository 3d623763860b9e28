// Settings of `ingle app`. What concerns its `/v1` server is set on its page.
import type { SettingTable } from "./setting.ts";

export const appSettings = {
  port: {
    flag: "--port <number>",
    variables: ["INGLE_APP_PORT"],
    kind: "integer",
    max: 65_535,
    default: 1336,
    help: "Port of the page; 0 picks any free port",
    details:
      "When the port is taken, the next free one is used. Default ports of the [variants](#variants) are skipped.",
  },
  noOpen: {
    flag: "--no-open",
    variables: ["INGLE_NO_OPEN"],
    kind: "toggle",
    help: "Print the page's address without opening a browser",
  },
} as const satisfies SettingTable;
