// Mermaid, a chunk that is loaded with the first complete diagram. It lays a diagram out in a hidden element, because it has to
// measure text, and the result is shown as an image. mermaid-under-policy.ts patches it for the Content-Security-Policy.
import mermaid, { type MermaidConfig } from "mermaid";

import { errorText } from "../strings/error-message.ts";
import { toDiagramImage, type DiagramImage } from "./diagram-svg.ts";

export type { DiagramImage };

/** A diagram, or why it cannot be drawn; `reason` is Mermaid's own message. */
export type DrawnDiagram =
  | { image: DiagramImage }
  | { problem: "length"; lengthMax: number }
  | { problem: "source"; reason: string };

/** Larger diagrams would block the page for seconds. */
const sourceLengthMax = 20_000;
const edgesMax = 300;

/** Distinct colours for the slices of a pie and the bars of a chart. */
const series = ["--accent", "--code-title", "--good", "--code-type", "--warn", "--code-keyword"];

let count = 0;
let last: Promise<unknown> = Promise.resolve();

/** Draws diagrams one after the other, since Mermaid has one global configuration. Invalid sources never reject. */
export function drawDiagram(source: string, isDark: boolean): Promise<DrawnDiagram> {
  const next = last.then(() => draw(source, isDark));
  last = next;
  return next;
}

async function draw(source: string, isDark: boolean): Promise<DrawnDiagram> {
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
    return { problem: "source", reason: parserMessage(error) };
  } finally {
    document.adoptedStyleSheets = document.adoptedStyleSheets.filter((other) => other !== sheet);
    frame.remove();
  }
}

/** Adds a hidden element for the layout. */
function makeLayoutPlace(): { frame: HTMLElement; place: HTMLElement } {
  const frame = document.createElement("div");
  frame.className = "diagram-layout";
  frame.setAttribute("aria-hidden", "true");
  const place = document.createElement("div");
  // Cytoscape, which lays out mind maps, adds a <style> unless this id exists. Its rule is in markdown.css.
  const known = document.createElement("span");
  known.id = "__________cytoscape_stylesheet";
  frame.append(known, place);
  document.body.append(frame);
  return { frame, place };
}

/** The first line of the message says where, and the line "Expecting …" says what; the source is between them. */
function parserMessage(error: unknown): string {
  const lines = errorText(error)
    .split("\n")
    .map((line) => line.trim());
  return [lines[0], lines.find((line) => line.startsWith("Expecting"))].filter(Boolean).join(" ");
}

function configuration(isDark: boolean): MermaidConfig {
  const root = getComputedStyle(document.documentElement);
  const fontFamily = root.getPropertyValue("--font").trim().replaceAll('"', "'");
  return {
    startOnLoad: false,
    securityLevel: "strict",
    suppressErrorRendering: true,
    maxTextSize: sourceLengthMax,
    maxEdges: edgesMax,
    htmlLabels: false,
    flowchart: { htmlLabels: false },
    theme: "base",
    // Without HTML labels, Mermaid does not centre the text in a circle of a mind map.
    themeCSS: ".mindmap-node circle ~ .label text { text-anchor: middle; }",
    fontFamily,
    themeVariables: {
      darkMode: isDark,
      fontFamily,
      fontSize: "15px",
      background: colour("--surface"),
      primaryColor: colour("--accent-soft"),
      primaryBorderColor: colour("--accent"),
      primaryTextColor: colour("--text"),
      secondaryColor: colour("--good-soft"),
      tertiaryColor: colour("--surface-sunken"),
      lineColor: colour("--line-strong"),
      edgeLabelBackground: colour("--surface"),
      pieOpacity: "1",
      pieStrokeColor: colour("--surface"),
      pieOuterStrokeColor: colour("--surface"),
      pieSectionTextColor: colour("--text-on-accent"),
      ...Object.fromEntries(series.map((name, at) => [`pie${at + 1}`, colour(name)])),
      xyChart: { plotColorPalette: series.map(colour).join(",") },
      textColor: colour("--text"),
      noteBkgColor: colour("--warn-soft"),
      noteTextColor: colour("--text"),
      errorBkgColor: colour("--bad-soft"),
      errorTextColor: colour("--bad"),
    },
    // Settings that a diagram may not override.
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

/** The current value of a colour token as `#rrggbb`: Mermaid understands neither `light-dark()` nor lists of `rgb()`. */
function colour(name: string): string {
  const probe = document.createElement("span");
  probe.style.color = `var(${name})`;
  document.body.append(probe);
  const channels = getComputedStyle(probe).color.match(/\d+/g) ?? [];
  probe.remove();
  return `#${channels
    .slice(0, 3)
    .map((channel) => Number(channel).toString(16).padStart(2, "0"))
    .join("")}`;
}
