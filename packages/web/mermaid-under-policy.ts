// A Vite plugin that patches Mermaid. While it lays out a diagram, Mermaid writes style attributes and a <style> element, which the
// page's policy (style-src 'self') blocks. The patched code sets the same styles through the CSSOM, and passes its rules to
// src/markdown/mermaid.ts. The build fails if a new version lacks one of the patched places.
import type { Plugin } from "vite";

interface Change {
  /** Matches the end of the module's path. */
  module: RegExp;
  from: string | RegExp;
  to: string;
}

const changes: readonly Change[] = [
  {
    module: /d3-selection\/dist\/d3-selection\.mjs$/,
    from: "    this.setAttribute(name, value);",
    to: '    if (name === "style") this.style.cssText = value; else this.setAttribute(name, value);',
  },
  {
    module: /d3-selection\/dist\/d3-selection\.mjs$/,
    from: "else this.setAttribute(name, v);",
    to: 'else if (name === "style") this.style.cssText = v; else this.setAttribute(name, v);',
  },
  {
    module: /d3-selection\/dist\/d3-selection\.mjs$/,
    from: "this.innerHTML = value;",
    to: "setHtml(this, value);",
  },
  {
    module: /d3-selection\/dist\/d3-selection\.mjs$/,
    from: 'this.innerHTML = v == null ? "" : v;',
    to: 'setHtml(this, v == null ? "" : v);',
  },
  {
    module: /d3-selection\/dist\/d3-selection\.mjs$/,
    from: /^/,
    to: `
      function setHtml(element, html) {
        element.innerHTML = String(html).replace(/<[^>]*>/g, (tag) => tag.replace(/\\sstyle\\s*=/gi, " data-style="));
        for (const styled of element.querySelectorAll("[data-style]")) {
          styled.style.cssText = styled.dataset.style;
          delete styled.dataset.style;
        }
      }
    `,
  },
  // Styles in HTML labels are removed before parsing.
  {
    module: /dompurify\/dist\/purify\.es\.mjs$/,
    from: "new DOMParser().parseFromString(dirtyPayload,",
    to: "new DOMParser().parseFromString(withoutStyles(String(dirtyPayload)),",
  },
  {
    module: /dompurify\/dist\/purify\.es\.mjs$/,
    from: /^/,
    to: `
      function withoutStyles(html) {
        const attribute = /\\sstyle\\s*=\\s*(?:"[^"]*"|'[^']*'|[^\\s>]*)/gi;
        return html.replace(/<[^>]*>/g, (tag) => tag.replace(attribute, "").replace(/^<(\\/?)style\\b/i, "<$1x-style"));
      }
    `,
  },
  {
    module: /mermaid\.core\/chunk-\w+\.mjs$/,
    from: 'child.setAttribute("style", style);',
    to: "child.style.cssText = style;",
  },
  {
    module: /mermaid\.core\/swimlanes-\w+\.mjs$/,
    from: 'pathEl.setAttribute("style", cleaned);',
    to: "pathEl.style.cssText = cleaned;",
  },
  {
    module: /mermaid\/dist\/mermaid\.core\.mjs$/,
    from: /const style1 = document\.createElement\("style"\);\s*style1\.innerHTML = rules;\s*svg\.insertBefore\(style1, firstChild\);/,
    to: 'svgContainingElement.dispatchEvent(new CustomEvent("rules", { detail: rules }));',
  },
  // The result is serialized as XML, for an image, in which nothing runs. Mermaid would serialize HTML and sanitize it in a document
  // that is under the policy, too.
  {
    module: /mermaid\/dist\/mermaid\.core\.mjs$/,
    from: /const svgCode = [^;]*serializeSvg\(\);/,
    to: "const svgCode = cleanUpSvgCode(new XMLSerializer().serializeToString(svgNode.node()), false, false);",
  },
];

export function mermaidUnderPolicy(): Plugin {
  const left = new Set(changes);
  return {
    name: "mermaid-under-policy",
    enforce: "pre",
    apply: "build",
    transform(code, id) {
      const own = changes.filter(({ module }) => module.test(id));
      if (own.length === 0) return undefined;
      let changed = code;
      for (const change of own) {
        const next = changed.replace(change.from, () => change.to);
        if (next !== changed) left.delete(change);
        changed = next;
      }
      return changed;
    },
    buildEnd(error) {
      if (error !== undefined || left.size === 0) return;
      const places = [...left].map(({ module, from }) => `${String(module)}: ${String(from)}`);
      this.error(
        `Mermaid's code has changed. Update mermaid-under-policy.ts for these places, which no longer exist:\n${places.join("\n")}`,
      );
    },
  };
}
