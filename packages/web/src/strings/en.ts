// English, the page's own language. Each part of the page has a file of its own.
import { appEn } from "./app-en.ts";
import { chatEn } from "./chat-en.ts";
import { errorsEn } from "./errors-en.ts";
import { firstRunEn } from "./first-run-en.ts";
import { libraryEn } from "./library-en.ts";
import { machineEn } from "./machine-en.ts";
import { samplingEn } from "./sampling-en.ts";
import { serverEn } from "./server-en.ts";
import { settingsEn } from "./settings-en.ts";
import { textEn } from "./text-en.ts";

export const en = {
  app: appEn,
  chat: chatEn,
  errors: errorsEn,
  firstRun: firstRunEn,
  library: libraryEn,
  machine: machineEn,
  sampling: samplingEn,
  server: serverEn,
  settings: settingsEn,
  text: textEn,
};
