// Formats what the command line prints: sizes, times, columns, tables, shell words.
import prettyBytes from "pretty-bytes";

/** "308 MiB", "1.5 GiB". */
export function formatBytes(bytes: number): string {
  return prettyBytes(bytes, { binary: true });
}

/** "0.4 s", "12 s", "3 min 5 s". */
export function formatDuration(ms: number): string {
  const seconds = ms / 1000;
  if (seconds < 10) return `${seconds.toFixed(1)} s`;
  const whole = Math.round(seconds);
  return whole < 60 ? `${whole} s` : `${Math.floor(whole / 60)} min ${whole % 60} s`;
}

/** One word for sh, quoted if the shell would interpret it. */
export function shellWord(text: string): string {
  return /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`;
}

/** One line per name and value, the values aligned. */
export function formatColumns(rows: readonly (readonly [name: string, value: string])[]): string {
  const width = Math.max(0, ...rows.map(([name]) => name.length));
  return rows.map(([name, value]) => `${name.padEnd(width)}  ${value}\n`).join("");
}

/** A table whose first row is the head; lines have no trailing spaces. */
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

/** A chat request to paste into sh. `keyed` adds an Authorization header, `headers` adds others; `between` separates its words. */
export function curlLine(
  url: string,
  modelId: string,
  {
    keyed,
    headers = [],
    between = " \\\n    ",
  }: { keyed: boolean; headers?: readonly string[]; between?: string },
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
  ].join(between);
}
