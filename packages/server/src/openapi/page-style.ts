// How the API's page looks. Its hash stands in the page's policy, so it goes into the page as it is.

export const pageStyle = `
:root { color-scheme: light dark; --line: light-dark(#d5d9e0, #3a3f4b); --soft: light-dark(#f4f5f8, #1d2028); }
body { max-width: 64rem; margin: 0 auto; padding: 1rem 1.5rem 4rem; font: 16px/1.5 system-ui, sans-serif; }
h1 { margin-bottom: 0; }
h2 { margin: 3rem 0 0; border-top: 1px solid var(--line); padding-top: 1.5rem; }
h2, h3 { line-height: 1.25; overflow-wrap: anywhere; }
code, pre, b { font-family: ui-monospace, monospace; font-size: 0.9em; }
pre { padding: 0.75rem 1rem; border-radius: 6px; background: var(--soft); overflow-x: auto; }
.routes { padding: 0; list-style: none; }
.wide { overflow-x: auto; }
table { border-collapse: collapse; width: 100%; font-size: 0.95em; }
th, td { padding: 0.3rem 0.75rem 0.3rem 0; border-bottom: 1px solid var(--line); text-align: left; vertical-align: top; }
a { color: light-dark(#1a56c4, #8ab4ff); }
:target > :is(h2, h3) { color: light-dark(#1a56c4, #8ab4ff); }
`;
