/** An object as JSON.parse makes it, whose members are not known yet. */
export type JsonObject = Readonly<Record<string, unknown>>;

/** Whether a value is an object with members: no list, and not null. What is JSON by its type stays that. */
export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
