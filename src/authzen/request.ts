// Reads the entities of requests (Authorization API 1.0 §5). Unknown members are ignored (§10.1.1).
import { invalidField } from "../aip/errors.ts";

/** A JSON object whose members have not been checked. */
export type Members = Readonly<Record<string, unknown>>;

/** A subject or a resource. */
export interface Entity {
  readonly type: string;
  readonly id: string;
}

/** The three entities of an evaluation. Their properties and the context of the request decide nothing here. */
export interface Question {
  readonly subject: Entity;
  readonly action: string;
  readonly resource: Entity;
}

/** Reads a whole evaluation. Throws INVALID_ARGUMENT. */
export function readQuestion(body: Members): Question {
  readContext(body);
  return {
    subject: readEntity(body, "subject"),
    action: readAction(body),
    resource: readEntity(body, "resource"),
  };
}

/** Reads a subject or a resource with its id. */
export function readEntity(body: Members, name: "subject" | "resource"): Entity {
  const { type, id } = readProperties(body, name);
  return { type: readText(type, `${name}.type`), id: readText(id, `${name}.id`) };
}

/** Reads the type of the entities that a search is for. Their id is ignored (§8.4.1, §8.5.1). */
export function readType(body: Members, name: "subject" | "resource"): string {
  return readText(readProperties(body, name).type, `${name}.type`);
}

/** Checks that the context is an object. */
export function readContext(body: Members): void {
  readOptionalObject(body.context, "context");
}

/** Reads the name of the action. */
export function readAction(body: Members): string {
  return readText(readProperties(body, "action").name, "action.name");
}

/** Reads an object that is required. */
export function readObject(value: unknown, field: string): Members {
  if (isMissing(value)) throw invalidField(field, "is required");
  if (typeof value !== "object" || Array.isArray(value)) throw invalidField(field, "must be an object");
  return value as Members;
}

/** Reads an object that may be missing. */
export function readOptionalObject(value: unknown, field: string): Members {
  return isMissing(value) ? {} : readObject(value, field);
}

/** Reads a text that is required. */
export function readText(value: unknown, field: string): string {
  if (isMissing(value)) throw invalidField(field, "is required");
  if (typeof value !== "string") throw invalidField(field, "must be a string");
  // PostgreSQL stores neither.
  if (value.includes("\0") || !value.isWellFormed()) throw invalidField(field, "must be Unicode text without NUL");
  return value;
}

/** Whether a member is missing. Some clients write null for what they do not set. */
export function isMissing(value: unknown): value is null | undefined {
  return value === undefined || value === null;
}

function readProperties(body: Members, name: string): Members {
  const entity = readObject(body[name], name);
  readOptionalObject(entity.properties, `${name}.properties`);
  return entity;
}
