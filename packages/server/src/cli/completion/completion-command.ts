// `ingle completion SHELL` prints a completion script, which calls `ingle completion SHELL -- WORDS` for the candidates.
import type { Command } from "commander";
import type { CommandContext } from "../context.ts";
import { exitCodes } from "../errors.ts";
import type { Shell } from "../command-flags.ts";
import { candidatesFor, type Candidate } from "./candidates.ts";

/** The scripts call the `ingle` in PATH, not whatever program is being completed. */
const scripts: Readonly<Record<Shell, string>> = {
  bash: `# Completion of ingle for bash. In ~/.bashrc: eval "$(ingle completion bash)"
_ingle() {
  local line="\${COMP_LINE:0:COMP_POINT}" current kept found
  local -a words
  read -ra words <<< "$line"
  [[ "$line" == *[[:space:]] ]] && words+=("")
  current="\${words[\${#words[@]}-1]}"
  # bash replaces only what follows the last of these characters.
  kept="\${current%"\${current##*[:=]}"}"
  COMPREPLY=()
  while IFS= read -r found; do
    COMPREPLY+=("$(printf '%q' "\${found#"$kept"}")")
  done < <(command ingle completion bash -- "\${words[@]:1}" 2>/dev/null)
}
complete -o default -F _ingle ingle
`,
  zsh: `#compdef ingle
# Completion of ingle for zsh. In ~/.zshrc, after compinit: eval "$(ingle completion zsh)"
_ingle() {
  local -a found
  found=("\${(@f)$(command ingle completion zsh -- "\${(@)words[2,CURRENT]}" 2>/dev/null)}")
  if [[ -n "$found[1]" ]]; then
    _describe ingle found
  else
    _files
  fi
}
if [[ "$funcstack[1]" == _ingle ]]; then
  _ingle "$@"
else
  compdef _ingle ingle
fi
`,
  fish: `# Completion of ingle for fish. In ~/.config/fish/config.fish: ingle completion fish | source
function __ingle_complete
  set -l words (commandline -opc) (commandline -ct)
  set -l found (command ingle completion fish -- $words[2..-1] 2>/dev/null)
  if test (count $found) -eq 0
    __fish_complete_path (commandline -ct)
  else
    printf '%s\\n' $found
  end
end
complete -c ingle -f -a '(__ingle_complete)'
`,
};

/** A candidate in the format that the shell's script reads. */
const lines: Readonly<Record<Shell, (candidate: Candidate) => string>> = {
  bash: ({ value }) => value,
  zsh: ({ value, help }) =>
    [value, help]
      .filter((part) => part !== "")
      .map(escapedColons)
      .join(":"),
  fish: ({ value, help }) => `${value}\t${help}`,
};

function escapedColons(text: string): string {
  return text.replaceAll(":", String.raw`\:`);
}

/** Without words, prints the script. Returns the exit code. */
export async function completionCommand(
  { shell, words, program }: { shell: Shell; words: readonly string[]; program: Command },
  { stdout, env }: CommandContext,
): Promise<number> {
  if (words.length === 0) {
    stdout.write(scripts[shell]);
    return exitCodes.ok;
  }
  const candidates = await candidatesFor(program, words, () => modelNames(env));
  stdout.write(candidates.map((candidate) => `${lines[shell](candidate)}\n`).join(""));
  return exitCodes.ok;
}

/** Ids and aliases. Loads only this part of the library and not the engine, because somebody is waiting in a shell. */
async function modelNames(env: NodeJS.ProcessEnv): Promise<string[]> {
  const { listModels } = await import("@ingle/engine/installed-models");
  const models = await listModels({ env });
  return models.flatMap(({ id, aliases }) => [...aliases, id]);
}
