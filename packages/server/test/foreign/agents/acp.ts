// Asks an agent's program one question over the Agent Client Protocol, as editors do: JSON-RPC in lines, over its standard streams.
import { createInterface } from "node:readline";
import { z } from "zod";
import type { RunningProgram } from "./program-run.ts";

/** A reply has the number of a request and no method, which requests and notifications of the program have. */
const Line = z.looseObject({ id: z.unknown().optional(), method: z.string().optional() });
const NewSession = z.looseObject({ sessionId: z.string() });

/** Continues the session, or a new one, whose id is returned. Rejects if the program ends first. */
export async function askOverAcp(
  program: RunningProgram,
  { cwd, prompt, session }: { cwd: string; prompt: string; session: string | undefined },
): Promise<string> {
  const waiting = new Map<number, (result: unknown) => void>();
  createInterface({ input: program.stdout }).on("line", (line) => {
    const { id, method, result } = Line.parse(JSON.parse(line));
    // An error has no result: it is no session, and otherwise the end of what was asked.
    if (method === undefined) waiting.get(Number(id))?.(result);
  });
  const ended = new Promise<never>((_resolve, reject) => {
    program.once("close", () => reject(new Error("The program has ended.")));
  });
  const call = (method: string, params: object): Promise<unknown> => {
    const id = waiting.size;
    const replied = new Promise((resolve) => void waiting.set(id, resolve));
    program.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", id, method, params })}\n`);
    return Promise.race([replied, ended]);
  };
  await call("initialize", { protocolVersion: 1, clientCapabilities: {} });
  const place = { cwd, mcpServers: [] };
  const sessionId = session ?? NewSession.parse(await call("session/new", place)).sessionId;
  if (session !== undefined) await call("session/load", { ...place, sessionId });
  await call("session/prompt", { sessionId, prompt: [{ type: "text", text: prompt }] });
  return sessionId;
}
