// How the library introduces itself to those it downloads from.

export const ingleAgent = `ingle node/${process.version}`;
