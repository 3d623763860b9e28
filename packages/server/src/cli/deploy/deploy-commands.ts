// `ingle deploy …`: puts a model on a platform that runs it, as data for commander. What a command does is loaded when it is
// called.
import { InvalidArgumentError, Option, type Command } from "commander";
import type { CommandContext } from "../context.ts";

/** Takes the exit code of the command that ran. */
type OnExit = (exitCode: number) => void;

/** Absent: as the environment says, else as deploy.py does by itself. Times are texts such as `10m`. */
export interface DeployModalFlags {
  model?: string;
  name?: string;
  form?: "server" | "web_server";
  gpu?: string;
  region?: string;
  minContainers?: number;
  maxContainers?: number;
  bufferContainers?: number;
  targetConcurrency?: number;
  maxConcurrency?: number;
  startupTimeout?: string;
  scaledownWindow?: string;
  snapshot?: boolean;
  public?: boolean;
  apiKey?: string;
  image?: string;
  source?: string;
  timeout: string;
}

/** Adds `deploy modal`. */
export function addDeployCommands(program: Command, context: CommandContext, onExit: OnExit): void {
  const deploy = program.command("deploy").description("put a model on a platform that runs it");
  deploy.helpCommand(false);
  deploy
    .command("modal")
    .argument("[serve-flags...]", "flags of ingle serve, after --")
    .description("deploy a model on Modal, wait until it answers, and print its address")
    .option("--model <model>", "org/repo or org/repo:QUANT on the hub")
    .option("--name <name>", "name of the app on Modal")
    .option("--gpu <type>", "kind of GPU, and how many: L4, L40S, H100, H100:2")
    .addOption(
      new Option("--form <form>", "Modal's kind of web address: server is the faster one").choices([
        "server",
        "web_server",
      ]),
    )
    .option("--region <region>", "through which requests go, of the form server: us-east, us-west, …")
    .option("--min-containers <number>", "containers that run without any request", count)
    .option("--max-containers <number>", "most containers; 0 is no limit", count)
    .option("--buffer-containers <number>", "idle ones beside those that have requests", count)
    .option("--target-concurrency <number>", "requests of a container before another one starts", count)
    .option("--max-concurrency <number>", "most requests of a container, of the form web_server", count)
    .option("--startup-timeout <time>", 'how long a container may take to start, such as "10m"')
    .option("--scaledown-window <time>", "how long a container stays without requests")
    .option("--snapshot", "start containers from a snapshot of memory and GPU, of the form server")
    .option("--public", "ask for no proxy token: whoever knows the address may send requests")
    .option("--api-key <key>", "ask every request for this key as well")
    .option("--image <reference>", "an image with Ingle in it, instead of one that is built of the sources")
    .option("--source <folder>", "a checkout of Ingle to build the image of")
    .option("--timeout <time>", "how long to wait for the first container after the deployment", "20m")
    .action(async (serveFlags: string[], flags: DeployModalFlags) => {
      const { deployModal } = await import("./deploy-modal.ts");
      onExit(await deployModal(flags, serveFlags, context));
    });
}

function count(text: string): number {
  if (/^\d{1,6}$/.test(text)) return Number(text);
  throw new InvalidArgumentError("It must be a whole number.");
}
