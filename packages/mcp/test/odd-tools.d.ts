import type { Server } from "@modelcontextprotocol/server";

export function oddServer(names?: readonly string[]): Server;
