// Renders inline tokens: emphasis, links, code, images, formulas and so on.
import type { Token } from "marked";
import type { ComponentChildren } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";

import { decodeEntities, embeddedImage, safeLink } from "./untrusted-text.ts";
import { isMath } from "./lexer.ts";

export function InlineTokens({ tokens }: { tokens: readonly Token[] }) {
  return (
    <>
      {tokens.map((token, at) => (
        <InlineToken key={at} token={token} />
      ))}
    </>
  );
}

function InlineToken({ token }: { token: Token }) {
  if (isMath(token)) return <Formula tex={token.tex} isBlock={token.isBlock} />;
  const inside = "tokens" in token && token.tokens !== undefined ? token.tokens : [];
  const text = "text" in token && typeof token.text === "string" ? token.text : token.raw;
  switch (token.type) {
    case "strong":
      return (
        <strong>
          <InlineTokens tokens={inside} />
        </strong>
      );
    case "em":
      return (
        <em>
          <InlineTokens tokens={inside} />
        </em>
      );
    case "del":
      return (
        <del>
          <InlineTokens tokens={inside} />
        </del>
      );
    case "codespan":
      return <code>{text}</code>;
    case "br":
      return <br />;
    case "link":
      return (
        <Link address={readHref(token)} source={token.raw}>
          <InlineTokens tokens={inside} />
        </Link>
      );
    case "image":
      return <Image address={readHref(token)} description={text} source={token.raw} />;
    case "html":
      // Models use <br> for line breaks in tables. All other HTML is shown as text.
      return /^<br\s*\/?>$/i.test(text) ? <br /> : <>{text}</>;
    case "text":
      return inside.length > 0 ? <InlineTokens tokens={inside} /> : <>{decodeEntities(text)}</>;
    default:
      return <>{decodeEntities(text)}</>;
  }
}

function readHref(token: Token): string {
  const href: unknown = "href" in token ? token["href"] : undefined;
  return typeof href === "string" ? href : "";
}

interface LinkProps {
  address: string;
  /** The Markdown, shown if the address is not a safe link. */
  source: string;
  children: ComponentChildren;
}

function Link({ address, source, children }: LinkProps) {
  const href = safeLink(address);
  if (href === undefined) return <>{source}</>;
  return (
    <a href={href} target="_blank" rel="noopener noreferrer">
      {children}
    </a>
  );
}

/** Images on other hosts become links: loading them would tell the host that somebody reads this. */
function Image({ address, description, source }: { address: string; description: string; source: string }) {
  const embedded = embeddedImage(address);
  if (embedded !== undefined) return <img src={embedded} alt={description} />;
  return (
    <Link address={address} source={source}>
      {description === "" ? address : description}
    </Link>
  );
}

interface FormulaProps {
  tex: string;
  isBlock: boolean;
}

export function Formula({ tex, isBlock }: FormulaProps) {
  const place = useRef<HTMLSpanElement>(null);
  const [isSet, setSet] = useState(false);
  useEffect(() => {
    let isCurrent = true;
    const set = async () => {
      const { setFormula } = await import("./katex.ts");
      if (isCurrent && place.current !== null) setSet(setFormula(place.current, tex, isBlock));
    };
    void set();
    return () => {
      isCurrent = false;
    };
  }, [tex, isBlock]);
  return (
    <span class={isBlock ? "formula block" : "formula"}>
      {!isSet && <code>{tex}</code>}
      <span ref={place} hidden={!isSet} />
    </span>
  );
}
