// Finds the markers that git leaves where a merge had conflicts, in every text file of the repository, patches included.
// A step of check.ts.
import { execFile } from "node:child_process";
import { promisify } from "node:util";

/** As git writes them; a patch has a sign before them. */
const marker = "^[+ ]?(<{7} |>{7} |[|]{7} |={7}$)";

/** git grep's exit status if no line matches. */
const nothingFound = 1;

/** Each marker as `path:line:text`. Includes files that git does not track yet. */
export async function conflictProblems(folder: string): Promise<string[]> {
  const args = ["grep", "-I", "--untracked", "--line-number", "--extended-regexp", "-e", marker];
  try {
    const { stdout } = await promisify(execFile)("git", args, { cwd: folder });
    return stdout.trimEnd().split("\n");
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === nothingFound) return [];
    throw error;
  }
}
