// Mermaid, as a part that is loaded with the first whole diagram. It lays a diagram out in a hidden place of the page, because it
// has to measure texts, and what it drew is shown as an image. mermaid-under-policy.ts changes it so that the page's policy allows
// that.
import mermaid, { type MermaidConfig } from "mermaid";

import { toDiagramImage, type DiagramImage } from "./diagram-svg.ts";

export type { DiagramImage };

/** A diagram, or why it cannot be drawn; `reason` is in Mermaid's words. */
export type Drawn =
  | { image: DiagramImage }
  | { problem: "length"; lengthMax: number }
  | { problem: "source"; reason: string };

/** Longer ones and those with more edges would keep the page busy for seconds. */
const sourceLengthMax = 20_000;
const edgesMax = 300;

/** Colours that are told apart, for the parts of a pie and the bars of a chart. */
const series = ["--accent", "--code-title", "--good", "--code-type", "--warn", "--code-keyword"];

let count = 0;
let last: Promise<unknown> = Promise.resolve();

/** Draws one after the other: Mermaid has one configuration for all. Never rejects for what stands in the source. */
export function drawDiagram(source: string, isDark: boolean): Promise<Drawn> {
  const next = last.then(() => draw(source, isDark));
  last = next;
  return next;
}

async function draw(source: string, isDark: boolean): Promise<Drawn> {
  if (source.length > sourceLengthMax) return { problem: "length", lengthMax: sourceLengthMax };
  count += 1;
  mermaid.initialize(configuration(isDark));
  const sheet = new CSSStyleSheet();
  const { frame, place } = makeLayoutPlace();
  let rules = "";
  place.addEventListener("rules", (event) => {
    rules = event instanceof CustomEvent ? String(event.detail) : "";
    sheet.replaceSync(rules);
  });
  document.adoptedStyleSheets.push(sheet);
  try {
    const { svg } = await mermaid.render(`diagram-${count}`, source, place);
    return { image: toDiagramImage(svg, rules) };
  } catch (error) {
    return { problem: "source", reason: reasonOf(error) };
  } finally {
    document.adoptedStyleSheets = document.adoptedStyleSheets.filter((other) => other !== sheet);
    frame.remove();
  }
}

/** A place in the page where things are laid out, and not seen. */
function makeLayoutPlace(): { frame: HTMLElement; place: HTMLElement } {
  const frame = document.createElement("div");
  frame.className = "diagram-layout";
  frame.setAttribute("aria-hidden", "true");
  const place = document.createElement("div");
  // Cytoscape, which lays out mind maps, would write a <style> where nothing has this id. Its rule is in markdown.css.
  const known = document.createElement("span");
  known.id = "__________cytoscape_stylesheet";
  frame.append(known, place);
  document.body.append(frame);
  return { frame, place };
}

/** Its parser says where and what, with the line in between. */
function reasonOf(error: unknown): string {
  const message = error instanceof Error ? error.message : String(error);
  const lines = message.split("\n").map((line) => line.trim());
  return [lines[0], lines.find((line) => line.startsWith("Expecting"))].filter(Boolean).join(" ");
}

function configuration(isDark: boolean): MermaidConfig {
  const style = getComputedStyle(document.documentElement);
  const token = (name: string) => style.getPropertyValue(name).trim();
  const fontFamily = token("--font").replaceAll('"', "'");
  return {
    startOnLoad: false,
    securityLevel: "strict",
    suppressErrorRendering: true,
    maxTextSize: sourceLengthMax,
    maxEdges: edgesMax,
    htmlLabels: false,
    flowchart: { htmlLabels: false },
    theme: "base",
    // Without HTML in its labels, Mermaid begins the text of a mind map's circle in the middle.
    themeCSS: ".mindmap-node circle ~ .label text { text-anchor: middle; }",
    fontFamily,
    themeVariables: {
      darkMode: isDark,
      fontFamily,
      fontSize: "15px",
      background: token("--surface"),
      primaryColor: token("--accent-soft"),
      primaryBorderColor: token("--accent"),
      primaryTextColor: token("--text"),
      secondaryColor: token("--good-soft"),
      tertiaryColor: token("--surface-sunken"),
      lineColor: token("--line-strong"),
      edgeLabelBackground: token("--surface"),
      pieOpacity: "1",
      pieStrokeColor: token("--surface"),
      pieOuterStrokeColor: token("--surface"),
      pieSectionTextColor: token("--text-on-accent"),
      ...Object.fromEntries(series.map((name, at) => [`pie${at + 1}`, token(name)])),
      xyChart: { plotColorPalette: series.map(token).join(",") },
      textColor: token("--text"),
      noteBkgColor: token("--warn-soft"),
      noteTextColor: token("--text"),
      errorBkgColor: token("--bad-soft"),
      errorTextColor: token("--bad"),
    },
    // What the page decides, a diagram may not change.
    secure: [
      "secure",
      "securityLevel",
      "startOnLoad",
      "maxTextSize",
      "maxEdges",
      "suppressErrorRendering",
      "htmlLabels",
      "fontFamily",
      "themeCSS",
    ],
  };
}
