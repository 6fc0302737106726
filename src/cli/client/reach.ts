// Requests to what is no server of this API: they end in time, and fail with a sentence.
import { certificateProblem } from "../../base/system-error.ts";
import { CommandFailure } from "../failure.ts";
import { beginFetch } from "./proxy.ts";

/** How long an answer may take that is one small document, in milliseconds. */
export const documentTimeoutMs = 30_000;

/** What Node says of the ports of other protocols (Fetch standard, "bad port"). */
const badPort = "bad port";

/**
 * Fetches; the body has to arrive within the time, too, which is in milliseconds. Fails with a sentence that names `whom`
 * when there is no answer; any status is one.
 */
export async function reach(
  whom: string,
  address: string | URL,
  init: Omit<RequestInit, "signal">,
  timeoutMs = documentTimeoutMs,
): Promise<Response> {
  try {
    return await beginFetch(address, { ...init, signal: AbortSignal.timeout(timeoutMs) });
  } catch (error) {
    throw noAnswer(whom, error);
  }
}

/** The whole body of an answer. Fails with a sentence when it is longer than so many bytes, or breaks off. */
export async function readBody(whom: string, reply: Response, maxBytes: number): Promise<Buffer> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  try {
    for await (const chunk of reply.body ?? []) {
      size += chunk.length;
      if (size > maxBytes) throw new CommandFailure(`${reply.url} is longer than ${maxBytes} bytes`);
      chunks.push(chunk);
    }
  } catch (error) {
    throw error instanceof CommandFailure ? error : noAnswer(whom, error);
  }
  return Buffer.concat(chunks);
}

/** What to try where a certificate is not trusted. */
export const trustHint = "Name the authority that signed it: NODE_EXTRA_CA_CERTS=FILE, a file of certificates in PEM.";

function noAnswer(whom: string, error: unknown): CommandFailure {
  if (causeOf(error) === badPort)
    return new CommandFailure(`${whom} is at a port, or redirects to one, that no web request may go to`, {
      hint: "Serve it at another, such as 5000: https://fetch.spec.whatwg.org/#port-blocking has the list.",
    });
  const problem = certificateProblem(error instanceof Error ? (error.cause ?? error) : error);
  if (problem !== undefined)
    return new CommandFailure(`the certificate of ${whom} is not trusted: ${problem}`, { hint: trustHint });
  return new CommandFailure(`${whom} does not answer (${causeOf(error)})`);
}

/** What fetch failed of: its own message says no more than that it did. */
function causeOf(error: unknown): string {
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
  if (!(cause instanceof Error)) return String(cause);
  return "code" in cause && typeof cause.code === "string" ? cause.code : cause.message;
}
