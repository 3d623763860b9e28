// HTML templates that escape every value that is not HTML already.

export interface Html {
  readonly html: string;
}

type HtmlPart = string | number | Html | readonly Html[];

export function html(strings: TemplateStringsArray, ...parts: readonly HtmlPart[]): Html {
  const texts = strings.map(
    (text, index) => text + (index < parts.length ? partText(parts[index] ?? "") : ""),
  );
  return { html: texts.join("") };
}

/** The separator is text. */
export function joined(parts: readonly Html[], separator: string): Html {
  return { html: parts.map((part) => part.html).join(escaped(separator)) };
}

function partText(part: HtmlPart): string {
  if (typeof part === "string" || typeof part === "number") return escaped(String(part));
  return "html" in part ? part.html : part.map((each) => each.html).join("");
}

const entities: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#39;",
};

function escaped(text: string): string {
  return text.replace(/[&<>"']/g, (character) => entities[character] ?? character);
}
