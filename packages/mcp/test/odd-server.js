// Serves oddServer() over pipes. Arguments: the names of its tools; `--modern` refuses clients of the older protocol.
import { serveStdio } from "@modelcontextprotocol/server/stdio";
import { oddServer } from "./odd-tools.js";

const words = process.argv.slice(2);
const names = words.filter((word) => !word.startsWith("--"));
serveStdio(() => oddServer(names.length === 0 ? undefined : names), {
  legacy: words.includes("--modern") ? "reject" : "serve",
});
