// `gatehouse version`: of the program, and of the server if it responds.
import type { Command } from "commander";
import { isJsonObject } from "../base/json.ts";
import { version } from "../base/version.ts";
import { openSession, withClient } from "./client/session.ts";
import { clientCommands } from "./command-names.ts";
import { CommandFailure, failureText } from "./failure.ts";
import { narrowFormats } from "./output/formats.ts";
import type { View } from "./output/view.ts";
import type { Shell } from "./shell.ts";

/** How long to wait for the server, in milliseconds. */
const patienceMs = 2000;
/** The version of a server that does not report it. */
const unknown = "unknown";
const maxDocumentBytes = 4 * 1024 * 1024;

const view: View = {
  noun: "versions",
  id: "client",
  columns: [
    { title: "client", value: "client" },
    { title: "server", value: "server" },
    { title: "address", value: "address" },
  ],
};

/** Adds the command. */
export function addVersionCommand(program: Command, shell: Shell): void {
  const command = program.command("version").description(clientCommands.version);
  withClient(command, narrowFormats).action(async () => {
    using session = await openSession(shell, command);
    const server = await serverVersion(shell, session.url);
    await session.output.one(view, { client: version, server, address: session.url });
  });
}

/** Returns the version in the server's public OpenAPI document. Prints on standard error why there is none. */
async function serverVersion(shell: Shell, url: string): Promise<string> {
  const { reach, readBody } = await import("./client/reach.ts");
  try {
    const response = await reach(url, `${url}/openapi/auth.json`, { redirect: "manual" }, patienceMs);
    const document: unknown = JSON.parse((await readBody(url, response, maxDocumentBytes)).toString());
    const info = isJsonObject(document) ? document.info : undefined;
    return isJsonObject(info) && typeof info.version === "string" ? info.version : unknown;
  } catch (error) {
    // Another kind of server responded.
    if (error instanceof SyntaxError) return unknown;
    if (!(error instanceof CommandFailure)) throw error;
    shell.stderr.write(`${failureText(error)}\n`);
    return "does not answer";
  }
}
