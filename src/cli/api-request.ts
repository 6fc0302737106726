// The request of `gatehouse api`, and its response.
import type { JsonValue } from "@bufbuild/protobuf";
import { reach, readBody } from "./client/reach.ts";
import type { Session } from "./client/session.ts";
import { callTimeoutMs } from "./client/transport.ts";
import { printableLines } from "./escape.ts";
import { CommandFailure, wrongUsage } from "./failure.ts";

/** The maximum size of a printed response. */
const maxResponseBytes = 64 * 1024 * 1024;

/**
 * Sends the request, and again with another token if the server rejects the first one. A status from 400 is a failure.
 */
export async function sendRequest(
  session: Session,
  method: string,
  address: URL,
  body: string | undefined,
): Promise<void> {
  if (body !== undefined && ["GET", "HEAD"].includes(method)) throw wrongUsage(`a ${method} request has no body`);
  const send = async (token: string) =>
    await reach(
      session.url,
      address,
      {
        method,
        redirect: "manual",
        headers: {
          authorization: `Bearer ${token}`,
          ...(body !== undefined && { "content-type": "application/json" }),
        },
        ...(body !== undefined && { body }),
      },
      callTimeoutMs,
    );
  const { token } = await session.credential();
  let response = await send(token);
  const renewed = response.status === 401 ? await session.renewed(token) : undefined;
  if (renewed) {
    await response.body?.cancel();
    response = await send(renewed.token);
  }
  await printResponse(session, response);
  if (response.status >= 300)
    throw new CommandFailure(`${session.url} answers ${response.status} ${response.statusText}`);
}

/** Prints JSON in the session's format; other text without characters that terminals interpret. */
async function printResponse(session: Session, response: Response): Promise<void> {
  const content = (await readBody(session.url, response, maxResponseBytes)).toString();
  if (content === "" || session.output.format === "none") return;
  const value = jsonOf(content);
  if (value !== undefined) await session.output.data(value);
  else session.shell.stdout.write(printableLines(content));
}

function jsonOf(content: string): JsonValue | undefined {
  try {
    return JSON.parse(content);
  } catch {
    return undefined;
  }
}
