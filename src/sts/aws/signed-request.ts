// The credential of an AWS identity: a signed GetCallerIdentity request in base64url, which only AWS can verify. Parsed
// strictly, so our checks see what AWS will see.

/** A parsed request. Do not trust anything in it before AWS has verified it. */
export interface AwsRequest {
  readonly method: string;
  /** Path and query. */
  readonly target: string;
  /** Lower-case names in the order of the request, repetitions included. */
  readonly headers: readonly (readonly [name: string, value: string])[];
  readonly body: string;
}

// RFC 9112 §3, §5: no folded lines, no space before the colon, only visible ASCII, space and tab in values.
const requestLine = /^([A-Z]+) (\/[\x21-\x7e]*) HTTP\/1\.1$/;
const headerLine = /^([A-Za-z0-9-]+):[ \t]*([\x20-\x7e\t]*)$/;

/** Parses a credential. Returns undefined if it is not such a request. */
export function parseAwsRequest(text: string): AwsRequest | undefined {
  // Not a JSON Web Token, which contains dots.
  if (!/^[A-Za-z0-9_-]+={0,2}$/.test(text)) return undefined;
  const raw = Buffer.from(text, "base64url").toString("latin1");
  const end = raw.indexOf("\r\n\r\n");
  const [first = "", ...lines] = raw.slice(0, Math.max(end, 0)).split("\r\n");
  const [, method, target] = requestLine.exec(first) ?? [];
  const headers = lines.map((line) => headerLine.exec(line));
  if (method === undefined || target === undefined || !headers.every((match) => match !== null)) return undefined;
  return {
    method,
    target,
    headers: headers.map(([, name = "", value = ""]) => [name.toLowerCase(), value.trimEnd()] as const),
    body: raw.slice(end + 4),
  };
}

/** Returns all values of a header. */
export function headerValues({ headers }: AwsRequest, name: string): string[] {
  return headers.filter(([known]) => known === name).map(([, value]) => value);
}

/** Returns the value of a header that must occur once. Runs of spaces count as one, as in the signature. */
export function headerValue(request: AwsRequest, name: string): string {
  const [value = "", second] = headerValues(request, name);
  return second === undefined ? value.trim().replace(/ +/g, " ") : "";
}

/** Returns the header names that the signature covers; empty unless there is exactly one such list. */
export function signedHeaders(request: AwsRequest): string[] {
  const lists = [...headerValue(request, "authorization").matchAll(/SignedHeaders=([^,\s]*)/g)];
  return lists.length === 1 ? (lists[0]?.[1] ?? "").split(";") : [];
}
