// Makes the notes of a release from the changelogs that changesets writes for each package.

/** The entries of a version by kind of change, without duplicates: a change to several packages is in all their changelogs. */
export function releaseNotes(changelogs: readonly string[], version: string): string {
  const kinds = new Map<string, Set<string>>();
  for (const section of changelogs.map((changelog) => findSection(changelog, version))) {
    for (const part of section.split(/^### /m).slice(1)) {
      const [kind = "", ...lines] = part.split("\n");
      // An entry begins with a dash and continues in indented lines.
      const entries = lines
        .join("\n")
        .split(/^(?=- )/m)
        .map((entry) => entry.trim());
      const own = entries.filter(
        (entry) => entry !== "" && !/^- Updated dependencies|^- @ingle\//.test(entry),
      );
      const known = kinds.get(kind) ?? new Set();
      for (const entry of own) known.add(entry);
      kinds.set(kind, known);
    }
  }
  const filled = [...kinds].filter(([, entries]) => entries.size > 0);
  return filled.map(([kind, entries]) => `## ${kind}\n\n${[...entries].join("\n\n")}\n`).join("\n");
}

function findSection(changelog: string, version: string): string {
  const sections = changelog.split(/^## /m);
  return sections.find((section) => section.startsWith(`${version}\n`)) ?? "";
}
