// A call that code is made of.
import type { Grpc, Method, Operation } from "../documents.ts";
import type { Draft } from "../request.ts";

/** A method with the values of the form. */
export interface Call {
  /** The address of the server. */
  readonly origin: string;
  readonly grpc: Grpc;
  readonly service: string;
  readonly method: Method;
  readonly operation: Operation | undefined;
  readonly draft: Draft;
}

/** Whether a call has the token of the caller. */
export function hasToken({ method }: Call): boolean {
  return method.access.type === "token";
}

/** Returns the folder of a proto file: "chainguard/platform/iam/v2beta1". */
export function folderOf(file: string): string {
  return file.slice(0, file.lastIndexOf("/"));
}

/** Returns the names of a type inside its package: ["Identity", "ClaimMatch"]. */
export function namesOf(type: string): readonly string[] {
  return type.split(".").filter((name) => /^[A-Z]/.test(name));
}

/** Returns an integer, a "NaN" or an "Infinity" of JSON. Throws an Error for other texts. */
export function numberText(field: string, value: unknown): string {
  const text = String(value);
  if (/^(NaN|-?Infinity)$/.test(text) || (text.trim() !== "" && !Number.isNaN(Number(text)))) return text;
  throw new Error(`${field}: not a number`);
}
