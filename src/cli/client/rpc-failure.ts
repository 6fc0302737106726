// What a failed call means to a person: what went wrong, and what to try.
import { Code, ConnectError } from "@connectrpc/connect";
import {
  BadRequestSchema,
  type ErrorInfo,
  ErrorInfoSchema,
  PreconditionFailureSchema,
} from "../../../gen/google/rpc/error_details_pb.ts";
import { CommandFailure } from "../failure.ts";
import { printable } from "../shell.ts";
import type { Target } from "./credential.ts";

/** Turns what a call threw into a failure of the command; other errors are answered as they are. */
export function toFailure(error: unknown, target: Target): unknown {
  if (!(error instanceof ConnectError)) return error;
  // What went wrong before anything was sent, such as no token.
  if (error.cause instanceof CommandFailure) return error.cause;
  const message = printable(error.rawMessage);
  return new CommandFailure(messageOf(error, message, target), { hint: hintOf(error, target) });
}

function messageOf(error: ConnectError, message: string, { url }: Target): string {
  if (isUnreachable(error)) return `no server answers at ${url} (${causeText(error)})`;
  if (isForeign(error)) return `${url} answers, but not as a server of this API does (${message})`;
  const violations = violationsOf(error).map((text) => `\n  ${printable(text)}`);
  if (violations.length > 1) return `the request was refused:${violations.join("")}`;
  return message || Code[error.code];
}

function hintOf(error: ConnectError, target: Target): string {
  if (isUnreachable(error)) {
    return "Start a development server with `npm start`, or name another with --url, GATEHOUSE_URL or\n`gatehouse config set platform.api URL`.";
  }
  if (isForeign(error)) return "Look at the address: --url, GATEHOUSE_URL or `gatehouse config view`.";
  return (hints[error.code] ?? (() => ""))(error, target);
}

const hints: Partial<Record<Code, (error: ConnectError, target: Target) => string>> = {
  [Code.Unauthenticated]: () =>
    "Sign in with `gatehouse auth login`, or look at the present token with `gatehouse auth status`.",
  [Code.PermissionDenied](error) {
    const { capability, scope } = infoOf(error)?.metadata ?? {};
    if (!capability || !scope || capability.includes(",")) return "";
    return `See what is missing with \`gatehouse auth can-i ${capability} --group ${scope}\`.`;
  },
  [Code.FailedPrecondition](error) {
    const [violation] = error.findDetails(PreconditionFailureSchema).flatMap((detail) => detail.violations);
    return violation ? printable(`${violation.type}: ${violation.subject}`) : "";
  },
  [Code.ResourceExhausted]: () => "A limit was met; try again in a while.",
  [Code.Unimplemented]: ({ rawMessage }, { url }) => printable(`${url} does not serve this: ${rawMessage}`),
  [Code.DeadlineExceeded]: () => "The server took too long; try again.",
};

function infoOf(error: ConnectError): ErrorInfo | undefined {
  return error.findDetails(ErrorInfoSchema)[0];
}

function violationsOf(error: ConnectError): string[] {
  return error
    .findDetails(BadRequestSchema)
    .flatMap((detail) => detail.fieldViolations.map(({ field, description }) => `${field}: ${description}`));
}

function isUnreachable(error: ConnectError): boolean {
  return causeText(error) !== "" && infoOf(error) === undefined;
}

/** A proxy, a web server: something that knows nothing of gRPC. */
function isForeign(error: ConnectError): boolean {
  return (
    infoOf(error) === undefined && /HTTP [1-5]\d\d|content.type|protocol error|missing trailer/i.test(error.message)
  );
}

/** The system's word for a connection that could not be made, such as ECONNREFUSED; empty for anything else. */
function causeText({ cause }: ConnectError): string {
  if (!(cause instanceof Error) || !("code" in cause) || typeof cause.code !== "string") return "";
  return /^(E[A-Z]+|CERT_\w+|\w*(SIGNED|SIGNATURE|VERIFY)\w*|ERR_TLS\w*|ERR_SSL\w*|ERR_HTTP2\w*)$/.test(cause.code)
    ? cause.code
    : "";
}
