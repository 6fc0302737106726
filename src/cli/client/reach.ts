// Requests to other servers, with a time limit and readable errors.
import { certificateProblem } from "../../base/system-error.ts";
import { CommandFailure, untrustedCertificate } from "../failure.ts";
import { beginFetch } from "./proxy.ts";

/** The time limit for one small document, in milliseconds. */
export const documentTimeoutMs = 30_000;

/** Node's error for ports of other protocols (Fetch standard, "bad port"). */
const badPort = "bad port";

/**
 * Sends a request; the limit in milliseconds includes the body. Fails with a message that names `whom` if there is no
 * response. Any status is a response.
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

/** Reads the body of a response. Fails if it is longer than the limit or incomplete. */
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

/** The hint for a certificate that is not trusted. */
export const trustHint = "Name the authority that signed it: NODE_EXTRA_CA_CERTS=FILE, a file of certificates in PEM.";

function noAnswer(whom: string, error: unknown): CommandFailure {
  if (causeOf(error) === badPort)
    return new CommandFailure(`${whom} is at a port, or redirects to one, that no web request may go to`, {
      hint: "Serve it at another, such as 5000: https://fetch.spec.whatwg.org/#port-blocking has the list.",
    });
  const problem = certificateProblem(error instanceof Error ? (error.cause ?? error) : error);
  if (problem !== undefined)
    return new CommandFailure(`the certificate of ${whom} is not trusted: ${problem}`, {
      hint: trustHint,
      reason: untrustedCertificate,
    });
  return new CommandFailure(`${whom} does not answer (${causeOf(error)})`);
}

/** Returns the cause of a failed fetch: its own message only says that it failed. */
function causeOf(error: unknown): string {
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
  if (!(cause instanceof Error)) return String(cause);
  return "code" in cause && typeof cause.code === "string" ? cause.code : cause.message;
}
