// A TeX formula, rendered by KaTeX, which is loaded with the first one. Until then, and if it is invalid, the source is shown.
import { useEffect, useRef, useState } from "preact/hooks";

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
