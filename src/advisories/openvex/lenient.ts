// Lists of OpenVEX, whose wrong items are dropped one by one.
import { isJsonObject, type JsonObject, numberText } from "../../base/json.ts";
import { BadRecord, Members, type Problems } from "../document.ts";

/** Returns the result of `read`; if that throws BadRecord, reports the problem and returns undefined. */
export function attempt<T>(problems: Problems, read: () => T): T | undefined {
  try {
    return read();
  } catch (error) {
    if (!(error instanceof BadRecord)) throw error;
    problems.add(error.problem.path, error.problem.rule);
    return undefined;
  }
}

/** Reads an object. Throws BadRecord for any other value. */
export function membersOf(value: unknown, path: string, problems: Problems): Members {
  // A number that is kept as it was written is an object of JavaScript.
  if (!isJsonObject(value) || numberText(value) !== undefined) throw new BadRecord(path, "must be an object");
  return new Members(value, path, problems);
}

/**
 * Reads the products or subcomponents of a list, which OpenVEX 0.0.1 has as texts. Drops the items that `read` throws for, unless
 * the list must be whole.
 */
export function readComponents<T>(
  owner: Members,
  name: string,
  problems: Problems,
  read: (component: Members) => T,
  mustBeWhole = false,
): T[] {
  return owner.list(name).flatMap((item, i) => {
    const value: unknown = typeof item === "string" ? ({ "@id": item } satisfies JsonObject) : item;
    const readOne = () => read(membersOf(value, owner.pathOf(`${name}[${i}]`), problems));
    return mustBeWhole ? readOne() : (attempt(problems, readOne) ?? []);
  });
}

/** Reports the members that OpenVEX does not have. */
export function dropUnknown(members: Members): void {
  for (const name of Object.keys(members.rest())) members.drop(name, "is not a member of OpenVEX 0.2.0");
}
