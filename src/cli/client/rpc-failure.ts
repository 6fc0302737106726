// Explains a failed call: the problem, and the remedy.
import { Code, ConnectError } from "@connectrpc/connect";
import { errorDetails } from "../../../packages/client/src/errors.ts";
import { certificateProblem } from "../../base/system-error.ts";
import { printable } from "../escape.ts";
import { CommandFailure, untrustedCertificate } from "../failure.ts";
import type { Target } from "./credential.ts";

/** Converts the error of a call to a CommandFailure. Returns other errors unchanged. */
export function toFailure(error: unknown, target: Target): unknown {
  if (!(error instanceof ConnectError)) return error;
  // An error before anything was sent, such as a missing token.
  if (error.cause instanceof CommandFailure) return error.cause;
  const message = printable(error.rawMessage);
  const unreachable = unreachableOf(error);
  const answered = unreachable === undefined && !isForeign(error);
  return new CommandFailure(messageOf(error, message, target), {
    hint: hintOf(error, target),
    ...(unreachable?.isCertificate && { reason: untrustedCertificate }),
    ...(answered && { status: Code[error.code], reason: rpcErrorReason(error) }),
  });
}

function messageOf(error: ConnectError, message: string, { url }: Target): string {
  const unreachable = unreachableOf(error);
  if (unreachable) return unreachable.message(url, causeCode(error));
  if (isForeign(error)) return `${url} answers, but not as a server of this API does (${message})`;
  const violations = violationsOf(error).map((text) => `\n  ${printable(text)}`);
  if (violations.length > 1) return `the request was refused:${violations.join("")}`;
  return message || Code[error.code];
}

function hintOf(error: ConnectError, target: Target): string {
  const unreachable = unreachableOf(error);
  if (unreachable) return unreachable.hint;
  if (isForeign(error)) return lookAtAddress;
  return (hints[error.code] ?? (() => ""))(error, target);
}

const lookAtAddress = "Look at the address: --url, GATEHOUSE_URL or `gatehouse config view`.";

/** Why a call did not reach a server: by the system's error code, or by the library's message. */
interface Unreachable {
  readonly when: RegExp;
  readonly message: (url: string, code: string) => string;
  readonly hint: string;
  readonly isCertificate?: true;
}

const unreachables: readonly Unreachable[] = [
  {
    when: /^(UNABLE_TO_\w+|\w*SELF_SIGNED\w*|CERT_(UNTRUSTED|SIGNATURE_FAILURE))$/,
    message: (url, code) => `the certificate of ${url} is not trusted (${code})`,
    hint: "Name the authority that signed it: NODE_EXTRA_CA_CERTS=FILE, a file of certificates in PEM.",
    isCertificate: true,
  },
  {
    when: /^(CERT_\w+|ERR_TLS_CERT_\w+)$/,
    message: (url, code) => `the certificate of ${url} is not trusted: ${certificateProblem({ code })}`,
    hint: lookAtAddress,
    isCertificate: true,
  },
  {
    when: /^ERR_PROXY$/,
    message: (url) => `the proxy lets no call of ${url} through`,
    hint: "The proxy is named with HTTPS_PROXY; NO_PROXY names hosts that are asked without it.",
  },
  {
    when: /^(ERR_HTTP2_ERROR|ERR_HTTP2_TOO_MANY_INVALID_FRAMES|ERR_HTTP2_SESSION_ERROR|ERR_SSL_\w*NO_APPLICATION_PROTOCOL)$/,
    message: (url, code) => `${url} answers, but does not speak HTTP/2 (${code})`,
    hint: `A proxy in between must pass HTTP/2 through. ${lookAtAddress}`,
  },
  {
    when: /^(EPROTO|ERR_SSL_\w+|ERR_TLS_\w+)$/,
    message: (url, code) => `${url} answers, but does not speak TLS (${code})`,
    hint: `Without TLS the address begins with http://. ${lookAtAddress}`,
  },
  {
    when: /^(ECONNRESET|EPIPE)$|stream closed with error code CANCEL/,
    message: (url) => `${url} closes the connection without an answer`,
    hint: `Where the port speaks TLS the address begins with https://. ${lookAtAddress}`,
  },
  {
    when: /^E[A-Z_]+$/,
    message: (url, code) => `no server answers at ${url} (${code})`,
    hint: "Start a development server with `npm start`, or name another with --url, GATEHOUSE_URL or\n`gatehouse config set platform.api URL`.",
  },
];

/** Returns why the call reached no server of this API; undefined if one responded. */
function unreachableOf(error: ConnectError): Unreachable | undefined {
  if (errorDetails(error).reason !== "") return undefined;
  const said = causeCode(error) || error.rawMessage;
  return unreachables.find(({ when }) => when.test(said));
}

const hints: Partial<Record<Code, (error: ConnectError, target: Target) => string>> = {
  [Code.Unauthenticated]: () =>
    "Sign in with `gatehouse auth login`, or look at the present token with `gatehouse auth status --quick`.",
  [Code.PermissionDenied](error) {
    const { capability, scope } = errorDetails(error).metadata;
    if (!capability || !scope || capability.includes(",")) return "";
    // Nobody can do so, and a built-in role is not a group to request access to. Custom roles belong to one.
    if (/^roles\.(update|delete)$/.test(capability) && !scope.includes("/"))
      return "A built-in role can be neither changed nor deleted; `gatehouse iam roles create` makes one of your own.";
    return `See what is missing with \`gatehouse auth can-i ${capability} --group ${scope}\`.`;
  },
  [Code.FailedPrecondition](error) {
    return errorDetails(error).preconditionViolations.map(preconditionHint).join("\n");
  },
  [Code.ResourceExhausted]: () => "A limit was met; try again in a while.",
  [Code.Unimplemented]: (_error, { url }) => printable(`${url} does not serve this. ${lookAtAddress}`),
  [Code.DeadlineExceeded]: () => "The server took too long; try again.",
};

/** The commands that rename a resource, by the words for its kind. */
const renamed: Readonly<Record<string, string>> = {
  group: "groups",
  role: "roles",
  identity: "identities",
  "identity provider": "identity-providers",
};

type Violation = ReturnType<typeof errorDetails>["preconditionViolations"][number];

/** Returns the violated precondition and the resource, or the command that helps. */
function preconditionHint({ type, subject, description }: Violation): string {
  const [, noun = ""] = /^([a-z ]+) "/.exec(description) ?? [];
  const command = type === "AMBIGUOUS_NAME" ? renamed[noun] : undefined;
  if (command !== undefined)
    return printable(`${description}: gatehouse iam ${command} update ${subject} --name NEW-NAME`);
  return printable(subject === "" ? type : `${type}: ${subject}`);
}

/** Returns the violated precondition, such as RESOURCE_NOT_EMPTY, else the reason of the error. */
function rpcErrorReason(error: ConnectError): string {
  const { preconditionViolations, reason } = errorDetails(error);
  return preconditionViolations[0]?.type ?? reason;
}

function violationsOf(error: ConnectError): string[] {
  return errorDetails(error).fieldViolations.map(({ field, description }) => `${field}: ${description}`);
}

/** Reports whether a proxy or web server responded that does not know gRPC. */
function isForeign(error: ConnectError): boolean {
  return (
    errorDetails(error).reason === "" &&
    /HTTP [1-5]\d\d|content.type|protocol error|missing trailer/i.test(error.message)
  );
}

/** Returns the system's code of a failed connection, such as ECONNREFUSED; empty for other errors. */
function causeCode({ cause }: ConnectError): string {
  return cause instanceof Error && "code" in cause && typeof cause.code === "string" ? cause.code : "";
}
