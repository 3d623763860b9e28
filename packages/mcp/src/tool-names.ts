// The names by which a model calls the tools of several servers.

/** The longest name that engines and other servers' requests accept. */
const nameMax = 64;

interface ServerTool {
  server: string;
  /** Its name on the server. */
  tool: string;
}

/**
 * A name for each tool, all different: its own, or `server__tool` if several servers have a tool with this name. What a name may not
 * contain becomes `_`; what is still not unique gets a number.
 */
export function uniqueNames(tools: readonly ServerTool[]): string[] {
  const plain = tools.map(({ tool }) => safeName(tool));
  const counts = new Map<string, number>();
  for (const name of plain) counts.set(name, (counts.get(name) ?? 0) + 1);
  const taken = new Set(plain.filter((name) => counts.get(name) === 1));
  const lastNumbers = new Map<string, number>();
  return tools.map(({ server, tool }, index) => {
    const own = plain[index] ?? "";
    if (counts.get(own) === 1) return own;
    const longer = safeName(`${server}__${tool}`);
    const { name, number } = numbered(longer, (lastNumbers.get(longer) ?? 0) + 1, taken);
    lastNumbers.set(longer, number);
    taken.add(name);
    return name;
  });
}

function safeName(name: string): string {
  return name.replace(/[^\w.-]/g, "_").slice(0, nameMax);
}

/** The first name that is not taken, from this number on. The smaller numbers of the same name must all be taken. */
function numbered(name: string, first: number, taken: ReadonlySet<string>): { name: string; number: number } {
  for (let number = first; ; number += 1) {
    const end = number === 1 ? "" : `_${number}`;
    const one = name.slice(0, nameMax - end.length) + end;
    if (!taken.has(one)) return { name: one, number };
  }
}
