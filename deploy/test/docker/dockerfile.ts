// Parses the Dockerfile of this folder: its stages, and their instructions with the build's arguments substituted. Unsupported syntax is an
// error, so that a test that runs the file's steps cannot miss one.
export interface Stage {
  /** The image or the earlier stage that it is based on. */
  from: string;
  name: string | undefined;
  instructions: readonly Instruction[];
}

export interface Instruction {
  word: string;
  text: string;
}

const known = new Set([
  "ARG",
  "CMD",
  "COPY",
  "ENTRYPOINT",
  "ENV",
  "EXPOSE",
  "HEALTHCHECK",
  "RUN",
  "USER",
  "VOLUME",
  "WORKDIR",
]);

/** The stages in order. `args` replaces `${NAME}`. Throws for unsupported syntax. */
export function readStages(dockerfile: string, args: Readonly<Record<string, string>>): Stage[] {
  const stages: (Stage & { instructions: Instruction[] })[] = [];
  for (const line of dockerfile.split("\n")) {
    if (line === "" || line.startsWith("#")) continue;
    const [, word = "", text = ""] = /^([A-Z]+) (.*[^\\])$/.exec(filledIn(line, args)) ?? [];
    if (word === "FROM") {
      const [from = "", , name] = text.split(" ");
      stages.push({ from, name, instructions: [] });
    } else if (known.has(word)) stages.at(-1)?.instructions.push({ word, text });
    else throw new Error(`The Dockerfile has an unsupported line: ${line}`);
  }
  return stages;
}

function filledIn(line: string, args: Readonly<Record<string, string>>): string {
  return line.replaceAll(/\$\{(\w+)\}/g, (_, name: string) => {
    const value = args[name];
    if (value === undefined) throw new Error(`The Dockerfile asks for the argument ${name}.`);
    return value;
  });
}

/** How the image of a stage is run. */
export interface ImageConfig {
  env: Readonly<Record<string, string>>;
  /** `10001:10001`. */
  user: string;
  command: readonly string[];
  healthCheck: readonly string[];
}

/** How to run the image, as the last stage defines it. */
export function imageConfig(stage: Stage): ImageConfig {
  const text = (word: string): string => {
    const found = stage.instructions.find((instruction) => instruction.word === word);
    if (found === undefined) throw new Error(`The last stage has no ${word}.`);
    return found.text;
  };
  const list = (json: string): string[] => {
    const parsed: unknown = JSON.parse(json);
    if (Array.isArray(parsed) && parsed.every((entry) => typeof entry === "string")) return parsed;
    throw new Error(`${json} is not a list of strings.`);
  };
  const env = text("ENV")
    .split(" ")
    .map((pair) => pair.split("="));
  return {
    env: Object.fromEntries(env.map(([name = "", value = ""]) => [name, value])),
    user: text("USER"),
    command: [...list(text("ENTRYPOINT")), ...list(text("CMD"))],
    healthCheck: list(text("HEALTHCHECK").replace(/^.*CMD /, "")),
  };
}
