// The request and the response of an attempt, as one text that is stored encrypted.

/** The longest texts that are stored, in bytes. */
const limits = { requestBody: 64 * 1024, responseBody: 4 * 1024 } as const;

/** A header with its lower-case name. */
export interface StoredHeader {
  readonly name: string;
  readonly value: string;
}

/** A body, and whether it was longer. */
export interface StoredBody {
  readonly text: string;
  readonly isCut: boolean;
}

/** The request and the response of an attempt. */
export interface AttemptPayload {
  /** The headers of the event, without those of the connection and the signature. */
  readonly requestHeaders: Readonly<Record<string, string>>;
  readonly request: StoredBody;
  /** Empty if there was no response, or if subscribers must not see it. */
  readonly responseHeaders: readonly StoredHeader[];
  readonly response: StoredBody;
}

/** An attempt to store. */
export interface SentPayload {
  readonly event: { readonly headers: Readonly<Record<string, string>>; readonly data: string };
  readonly reply?: { readonly headers: readonly StoredHeader[]; readonly beginning: Buffer | undefined } | undefined;
}

/** Response headers with secrets of the sink, which readers of the subscription need not know. */
const secretHeaders: ReadonlySet<string> = new Set(["set-cookie", "set-cookie2"]);

/** Returns the payload of an attempt as a text. */
export function formatPayload({ event, reply }: SentPayload): string {
  const payload: AttemptPayload = {
    requestHeaders: event.headers,
    request: cut(Buffer.from(event.data), limits.requestBody),
    responseHeaders: reply?.headers.filter(({ name }) => !secretHeaders.has(name)) ?? [],
    response: cut(reply?.beginning ?? Buffer.alloc(0), limits.responseBody),
  };
  return JSON.stringify(payload);
}

/** Reads a text that `formatPayload` returned. */
export function parsePayload(text: string): AttemptPayload {
  return JSON.parse(text) as AttemptPayload;
}

function cut(bytes: Buffer, maxBytes: number): StoredBody {
  const isCut = bytes.length > maxBytes;
  // Decoded as a part of a stream: the rest of a character at the end is left out.
  return { text: new TextDecoder().decode(bytes.subarray(0, maxBytes), { stream: isCut }), isCut };
}
