// A text in which words in backticks are shown as code.

export function CodeWords({ text }: { text: string }) {
  return (
    <>
      {text
        .split("`")
        .map((part, index) => (index % 2 === 1 ? <code key={`${index}${part}`}>{part}</code> : part))}
    </>
  );
}
