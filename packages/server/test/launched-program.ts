// A program for tests of `ingle launch`: a script in PATH that writes down how it was started, and ends as it is told.
import { chmod, mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { z } from "zod";

const Report = z.object({
  args: z.array(z.string()),
  env: z.record(z.string(), z.string()),
  /** The texts of files whose paths were in an argument or a variable. */
  files: z.record(z.string(), z.string()),
  signals: z.array(z.string()),
});
type Report = z.infer<typeof Report>;

/**
 * `REPORT` is where it writes. `PROGRAM` is how it ends: `exit N`, or `wait` until a signal comes, which is noted and ends it with 5, or
 * `die` to wait for one that ends it at once.
 */
const source = `
const fs = require("node:fs");
const [, , ...args] = process.argv;
const files = {};
const visit = (found) => {
  if (!fs.existsSync(found)) return;
  if (fs.statSync(found).isFile()) files[found] = fs.readFileSync(found, "utf8");
  else for (const name of fs.readdirSync(found)) visit(found + "/" + name);
};
for (const text of [...args, ...Object.values(process.env)])
  if (/ingle-launch-[^/]+[/]/.test(text)) visit(text);
const signals = [];
const report = () => {
  fs.writeFileSync(process.env.REPORT + ".part", JSON.stringify({ args, env: process.env, files, signals }));
  fs.renameSync(process.env.REPORT + ".part", process.env.REPORT);
};
const [end, code] = (process.env.PROGRAM ?? "exit 0").split(" ");
if (end === "wait")
  for (const name of ["SIGINT", "SIGTERM", "SIGHUP"])
    process.on(name, () => {
      signals.push(name);
      report();
      setTimeout(() => process.exit(5), 50);
    });
report();
if (end === "exit") process.exit(Number(code));
setInterval(() => {}, 1000);
`;

export interface ProgramDesk extends AsyncDisposable {
  /** Of the user: nothing may be written there. */
  readonly home: string;
  readonly bin: string;
  readonly reportFile: string;
  /** How the program was started; waits until it has written that. */
  report(isDone?: (report: Report) => boolean): Promise<Report>;
}

/** A folder with this command in PATH. */
export async function programDesk(command: string): Promise<ProgramDesk> {
  const root = await mkdtemp(path.join(tmpdir(), "ingle-launched-"));
  const [home, bin] = [path.join(root, "home"), path.join(root, "bin")];
  await mkdir(home);
  await mkdir(bin);
  await writeFile(path.join(root, "program.cjs"), source);
  const script = path.join(bin, command);
  await writeFile(script, `#!/bin/sh\nexec '${process.execPath}' '${path.join(root, "program.cjs")}' "$@"\n`);
  await chmod(script, 0o755);
  const reportFile = path.join(root, "report.json");
  return {
    home,
    bin,
    reportFile,
    report: async (isDone = () => true) => {
      for (;;) {
        const text = await readFile(reportFile, "utf8").catch(() => undefined);
        const report = text === undefined ? undefined : Report.parse(JSON.parse(text));
        if (report !== undefined && isDone(report)) return report;
        await new Promise((resolve) => setTimeout(resolve, 5));
      }
    },
    [Symbol.asyncDispose]: () => rm(root, { recursive: true, force: true }),
  };
}
