// German, whole: the compiler misses whatever English has and this has not.
import { appDe } from "./app-de.ts";
import { chatDe } from "./chat-de.ts";
import { errorsDe } from "./errors-de.ts";
import { firstRunDe } from "./first-run-de.ts";
import { libraryDe } from "./library-de.ts";
import { machineDe } from "./machine-de.ts";
import { samplingDe } from "./sampling-de.ts";
import { serverDe } from "./server-de.ts";
import { settingsDe } from "./settings-de.ts";
import { textDe } from "./text-de.ts";
import type { Strings } from "./strings.ts";

export const de: Strings = {
  app: appDe,
  chat: chatDe,
  errors: errorsDe,
  firstRun: firstRunDe,
  library: libraryDe,
  machine: machineDe,
  sampling: samplingDe,
  server: serverDe,
  settings: settingsDe,
  text: textDe,
};
