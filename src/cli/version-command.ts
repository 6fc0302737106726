// `gatehouse version`: that of the program, and of the server where one answers.
import type { Command } from "commander";
import { isJsonObject } from "../json.ts";
import { version } from "../version.ts";
import { reach, readBody } from "./client/reach.ts";
import { openSession, withClient } from "./client/session.ts";
import { CommandFailure } from "./failure.ts";
import type { View } from "./output/view.ts";
import type { Shell } from "./shell.ts";

/** How long the server is waited for, in milliseconds. */
const patienceMs = 2000;
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
  const command = program
    .command("version")
    .description("show the version of this program, and of the server if it answers");
  withClient(command, ["table", "json", "yaml", "csv", "id", "none"]).action(async () => {
    using session = await openSession(shell, command);
    const server = await serverVersion(session.url);
    await session.output.one(view, { client: version, server: server ?? "does not answer", address: session.url });
  });
}

/** What the server's OpenAPI document says, which everybody may read; undefined when it does not answer in time. */
async function serverVersion(url: string): Promise<string | undefined> {
  try {
    const response = await reach(url, `${url}/openapi/auth.json`, { redirect: "manual" }, patienceMs);
    const document: unknown = JSON.parse((await readBody(url, response, maxDocumentBytes)).toString());
    const info = isJsonObject(document) ? document.info : undefined;
    return isJsonObject(info) && typeof info.version === "string" ? info.version : undefined;
  } catch (error) {
    if (error instanceof CommandFailure || error instanceof SyntaxError) return undefined;
    throw error;
  }
}
