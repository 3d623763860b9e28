// A long reply in all kinds of Markdown, as the pieces of a script.

export function longAnswer(tokens: number): string[] {
  const block = [
    ..."## A heading of some words\n\n".split(/(?<= )/),
    ..."A paragraph with **bold words**, `code` and a [link](https://example.org) that goes on for a while. "
      .repeat(3)
      .split(/(?<= )/),
    ..."\n\n- one item\n- another item\n\n```js\nconst answer = 6 * 7;\nconsole.log(answer);\n```\n\n".split(
      /(?<=[ \n])/,
    ),
    ..."| a | b |\n|---|---|\n| 1 | 2 |\n\n".split(/(?<=[ |\n])/),
  ];
  return Array.from({ length: tokens }, (_nothing, at) => block[at % block.length] ?? "");
}
