// A recipe: what a program needs to use a server of Ingle's, as data. The code that starts programs knows none of them by name.
import type { LaunchName } from "./names.ts";

/** What a recipe's texts are made from. */
export interface Setup {
  /** The server's address without a path, such as `http://127.0.0.1:1337`. */
  readonly origin: string;
  /** A key that the server accepts; any text if it requires none. */
  readonly apiKey: string;
  /** The model's id. */
  readonly model: string;
  /** Maximum tokens of one request, prompt and reply together. */
  readonly contextLength: number;
  /** A temporary folder, removed when the program has ended. */
  readonly folder: string;
}

/** The user's folders, which say where a program keeps its configuration. */
export interface UserPlaces {
  readonly home: string;
  readonly env: NodeJS.ProcessEnv;
  readonly platform: NodeJS.Platform;
}

export type JsonObject = { readonly [key: string]: unknown };

/** A program's own configuration, which is JSON. */
interface SavedConfig {
  readonly file: (places: UserPlaces) => string;
  /** What is merged into it. */
  readonly content: (setup: Omit<Setup, "folder">) => JsonObject;
  /** In arrays of objects, the entry with the same value of this key is replaced; other entries are kept. */
  readonly entryKey?: string;
}

interface Described {
  readonly name: LaunchName;
  readonly title: string;
  /** Its names in PATH, the usual one first; these are also names of the recipe. */
  readonly commands: readonly string[];
  /** Where the facts of the recipe are from, with a version or a date. */
  readonly source: string;
}

/** A program that environment, arguments and files of a temporary folder set up completely. */
export interface StartedProgram extends Described {
  readonly kind: "started";
  /** How to install it: a command, or an address. */
  readonly install: string;
  /** The shortest context with which it can work: its instructions, its tools and some turns. */
  readonly contextMin: number;
  /** Whether it is useless with a model that cannot call tools. */
  readonly needsTools: boolean;
  readonly environment?: (setup: Setup, places: UserPlaces) => Readonly<Record<string, string>>;
  /** Variables of the user that would lead it to another server or model. */
  readonly unset?: readonly string[];
  /** Files by their paths in the temporary folder. */
  readonly files?: (setup: Setup) => Readonly<Record<string, JsonObject>>;
  /** Arguments before those of the user. */
  readonly args?: (setup: Setup) => readonly string[];
  /** The user's arguments, if there are none. */
  readonly argsDefault?: readonly string[];
  /** Absent: Ingle cannot write its configuration, because it is not JSON or does not name a server. */
  readonly saved?: SavedConfig;
}

/** A program that has to be set up in its own settings. */
export interface ByHandProgram extends Described {
  readonly kind: "by-hand";
  readonly steps: (setup: Omit<Setup, "folder">) => readonly string[];
}

export type Recipe = StartedProgram | ByHandProgram;

/** The name of the variable that holds the server's key, for configurations that name one. */
export const keyVariable = "INGLE_API_KEY";

/** A program's folder or file of its own, from the variable that moves it or below the home folder. */
export function userPath({ home, env }: UserPlaces, variable: string, usual: string): string {
  const given = env[variable] ?? "";
  return given === "" ? `${home}/${usual}` : given;
}

/** The longest reply that a program may ask for: a quarter of the context, so that most of it is left for the conversation. */
export function replyMax({ contextLength }: Pick<Setup, "contextLength">): number {
  return Math.min(replyTokensMax, Math.floor(contextLength / 4));
}

/** Longer replies are rare even where the context has room for them. */
const replyTokensMax = 8_192;
