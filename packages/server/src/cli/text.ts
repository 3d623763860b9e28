// How the command line writes numbers, columns and shell words. Pure; the commands write the result.

/** "0.4 s", "12 s", "3 min 5 s". */
export function formatDuration(ms: number): string {
  const seconds = ms / 1000;
  if (seconds < 10) return `${seconds.toFixed(1)} s`;
  const whole = Math.round(seconds);
  return whole < 60 ? `${whole} s` : `${Math.floor(whole / 60)} min ${whole % 60} s`;
}

/** One word for sh: nothing inside it is read by the shell. */
export function shellWord(text: string): string {
  return /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`;
}

/** Lines of a name and its value, the values below each other. */
export function formatColumns(rows: readonly (readonly [name: string, value: string])[]): string {
  const width = Math.max(0, ...rows.map(([name]) => name.length));
  return rows.map(([name, value]) => `${name.padEnd(width)}  ${value}\n`).join("");
}

/** A table of texts; the first row is its head. No space is left behind the last text of a line. */
export function formatTable(rows: readonly (readonly string[])[]): string {
  const widths = (rows[0] ?? []).map((_, column) =>
    Math.max(...rows.map((row) => (row[column] ?? "").length)),
  );
  return rows
    .map(
      (row) =>
        row
          .map((text, column) => text.padEnd(widths[column] ?? 0))
          .join("  ")
          .trimEnd() + "\n",
    )
    .join("");
}

/** A chat request that can be pasted into sh. `keyed` adds the header of a server that asks for a key, `headers` adds others. */
export function curlLine(
  url: string,
  modelId: string,
  { keyed, headers = [] }: { keyed: boolean; headers?: readonly string[] },
): string {
  const body = JSON.stringify({
    model: modelId,
    temperature: 0,
    messages: [{ role: "user", content: "What is the capital of France?" }],
  });
  const shown = [
    "Content-Type: application/json",
    ...(keyed ? ["Authorization: Bearer YOUR_KEY"] : []),
    ...headers,
  ];
  return [
    `curl ${shellWord(`${url}/v1/chat/completions`)}`,
    ...shown.map((header) => `-H ${shellWord(header)}`),
    `-d ${shellWord(body)}`,
  ].join(" \\\n    ");
}
