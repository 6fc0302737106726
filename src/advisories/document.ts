// Lenient reading of JSON and YAML that others wrote: a field that is not as its format says is dropped and reported.
import type { AdvisoryRecord } from "../../gen/gatehouse/vulnerabilities/v1/records_pb.ts";
import { isJsonObject, type JsonObject, numberText, RepeatedMember } from "../base/json.ts";
import type { Problem, ReadItem } from "./reading.ts";
import { parseTime, type ReadTime } from "./times.ts";

/** Limits of a record in any format. */
export const documentLimits = {
  /** The items of a list, where the reader of a format sets no other limit. */
  listItems: 10_000,
  /** The packages of a record: kernels have thousands, one for each release and flavour. */
  packages: 20_000,
  /** The versions of a package: some have tens of thousands of tags. */
  versions: 100_000,
  /** The maximum depth of values that a reader keeps unchanged. */
  depth: 64,
  /** The problems of a record that are reported one by one. */
  problems: 100,
} as const;

/** A document that cannot be read at all. The message completes a sentence that begins with the name of the document. */
export class BadDocument extends Error {
  override readonly name = "BadDocument";
}

/** The reason to leave out a record. */
export class BadRecord extends Error {
  override readonly name = "BadRecord";
  readonly problem: Problem;

  constructor(path: string, rule: string) {
    super(path === "" ? rule : `${path} ${rule}`);
    this.problem = { path, rule };
  }
}

/** Reads one record of a document. `read` throws BadRecord to leave it out. */
export function readItem(name: string, value: unknown, read: (record: Members) => AdvisoryRecord): ReadItem {
  const problems = new Problems();
  try {
    if (!isObject(value)) throw new BadRecord("", objectRule(value));
    const record = read(new Members(value, "", problems));
    return { name, record, problems: problems.list() };
  } catch (error) {
    if (!(error instanceof BadRecord)) throw error;
    return { name, record: undefined, problems: [...problems.list(), error.problem] };
  }
}

/** The problems of one record. Their number is limited: a record may have a hundred thousand of them. */
export class Problems {
  readonly #first: Problem[] = [];
  #count = 0;

  add(path: string, rule: string, isRepaired = false): void {
    this.#count += 1;
    if (this.#count <= documentLimits.problems) this.#first.push({ path, rule, ...(isRepaired && { isRepaired }) });
  }

  list(): Problem[] {
    const more = this.#count - this.#first.length;
    return more === 0 ? this.#first : [...this.#first, { path: "", rule: `has ${more} more problems` }];
  }
}

/**
 * The members of an object. Each method reads one member. For a wrong type or value it reports a problem and returns the same as for an
 * absent member; null counts as absent. `rest` returns the members that were not read.
 */
export class Members {
  /** The path of the object in the record, such as `affected[0].package`. */
  readonly path: string;
  readonly #value: JsonObject;
  readonly #problems: Problems;
  readonly #read: Set<string>;
  readonly #isStrict: boolean;

  constructor(value: JsonObject, path: string, problems: Problems, read = new Set<string>(), isStrict = false) {
    this.#value = value;
    this.path = path;
    this.#problems = problems;
    this.#read = read;
    this.#isStrict = isStrict;
  }

  /**
   * Returns the same object in strict mode: an invalid member throws BadRecord instead of being dropped. Used for members without which a
   * record would lack affected products. Objects within it are not strict.
   */
  strict(): Members {
    return new Members(this.#value, this.path, this.#problems, this.#read, true);
  }

  /** Returns the value of a member as it is; undefined when it is absent or null. */
  value(name: string): unknown {
    this.#read.add(name);
    return (Object.hasOwn(this.#value, name) ? this.#value[name] : undefined) ?? undefined;
  }

  /** Reports that a member, or an item of it such as `aliases[2]`, is dropped because it breaks a rule. */
  drop(name: string, rule: string): void {
    if (this.#isStrict) throw new BadRecord(this.pathOf(name), rule);
    this.#problems.add(this.pathOf(name), rule);
  }

  /** Reports that a member, which breaks a rule, is kept in another form. */
  repair(name: string, rule: string): void {
    this.#problems.add(this.pathOf(name), rule, true);
  }

  /** Returns the path of a member in the record. */
  pathOf(name: string): string {
    return this.path === "" || name === "" ? this.path + name : `${this.path}.${name}`;
  }

  /** Returns a text; empty when it is absent. */
  text(name: string): string {
    return this.#check(name, this.value(name), textRule) ?? "";
  }

  /** Returns a text that the record cannot do without. */
  requiredText(name: string): string {
    const value = this.value(name);
    const rule = value === undefined || value === "" ? "is missing" : textRule(value);
    if (rule !== "") throw new BadRecord(this.pathOf(name), rule);
    return value as string;
  }

  /** Returns a list of texts. A wrong or empty item is dropped, the others stay. */
  texts(name: string, most?: number): string[] {
    const ruleOf = (item: unknown) => (item === "" ? "must not be empty" : textRule(item));
    return this.list(name, most).filter(
      (item, i): item is string => this.#check(`${name}[${i}]`, item ?? null, ruleOf) !== undefined,
    );
  }

  /** Returns a time of RFC 3339. */
  time(name: string): ReadTime | undefined {
    const value = this.value(name);
    if (value === undefined || value === "") return undefined;
    const time = typeof value === "string" ? parseTime(value) : undefined;
    if (!time) this.drop(name, timeRule);
    return time;
  }

  /** Returns a time that the record cannot do without. */
  requiredTime(name: string): ReadTime {
    const value = this.value(name);
    const time = typeof value === "string" ? parseTime(value) : undefined;
    if (!time) throw new BadRecord(this.pathOf(name), value === undefined ? "is missing" : timeRule);
    return time;
  }

  /** Whether a member is true, which YAML writes as a text. */
  flag(name: string): boolean {
    const value = this.value(name);
    if (value === undefined || typeof value === "boolean") return value ?? false;
    if (value !== "true" && value !== "false") this.drop(name, "must be true or false");
    return value === "true";
  }

  /** Returns an object. */
  object(name: string): Members | undefined {
    const value = this.#check<JsonObject>(name, this.value(name), objectRule);
    return value && new Members(value, this.pathOf(name), this.#problems);
  }

  /** Returns a list of objects. A wrong item is dropped, the others stay. */
  objects(name: string, most?: number): Members[] {
    return this.list(name, most).flatMap((item, i) => {
      const value = this.#check<JsonObject>(`${name}[${i}]`, item ?? null, objectRule);
      return value ? [new Members(value, this.pathOf(`${name}[${i}]`), this.#problems)] : [];
    });
  }

  /** Returns a list, empty when it is absent. One that is too long is dropped as a whole: a part of it could say something else. */
  list(name: string, most: number = documentLimits.listItems): readonly unknown[] {
    const rule = (value: unknown) => {
      if (!Array.isArray(value)) return "must be a list";
      return value.length > most ? `has ${value.length} items, more than the limit of ${most}` : "";
    };
    return this.#check<unknown[]>(name, this.value(name), rule) ?? [];
  }

  /** Any value, for `extra`. */
  json(name: string): unknown {
    return this.#check(name, this.value(name), jsonRule);
  }

  /** Returns the members that nothing has read so far, for `extra`. */
  rest(): JsonObject {
    const names = Object.keys(this.#value).filter((name) => !this.#read.has(name));
    const kept = names.map((name) => [name, this.json(name)] as const).filter(([, value]) => value !== undefined);
    // Unlike an assignment, this makes a member `__proto__` an ordinary member.
    return Object.fromEntries(kept);
  }

  /** Returns the value if it keeps the rule; otherwise reports it. An absent value keeps every rule. */
  #check<T>(name: string, value: unknown, ruleOf: (value: unknown) => string): T | undefined {
    if (value === undefined) return undefined;
    const rule = ruleOf(value);
    if (rule === "") return value as T;
    this.drop(name, rule);
    return undefined;
  }
}

/** Whether a value is absent, also in YAML, where every scalar is a text. Not for members that are texts. */
export function isNothing(value: unknown): boolean {
  return value === undefined || value === null || value === "" || value === "~" || value === "null";
}

/** Whether a value is an object. A number that JavaScript would write differently is not one: see `parseExactly`. */
function isObject(value: unknown): value is JsonObject {
  return isJsonObject(value) && numberText(value) === undefined;
}

/** Returns the rule that a value breaks if it is not an object; empty when it breaks none. */
export function objectRule(value: unknown): string {
  if (value instanceof RepeatedMember) return `has a member twice: ${value.name.slice(0, 100)}`;
  return isObject(value) ? "" : "must be an object";
}

/** Whether a value is a text that can be kept: protobuf has well-formed texts only, PostgreSQL has texts without NUL only. */
export function isText(value: unknown): value is string {
  return typeof value === "string" && value.isWellFormed() && !value.includes("\0");
}

/** Returns the rule that a value breaks if it is not a text that can be stored; empty when it breaks none. */
export function textRule(value: unknown): string {
  if (typeof value !== "string") return "must be a text";
  return isText(value) ? "" : "must be well-formed Unicode without the character NUL";
}

function jsonRule(value: unknown): string {
  if (!isNestedWithin(value, documentLimits.depth)) return `is nested more than ${documentLimits.depth} deep`;
  return hasRepeatedMember(value) ? "has a member twice" : "";
}

function hasRepeatedMember(value: unknown): boolean {
  if (typeof value !== "object" || value === null) return false;
  return value instanceof RepeatedMember || Object.values(value).some(hasRepeatedMember);
}

function isNestedWithin(value: unknown, depth: number): boolean {
  if (typeof value !== "object" || value === null) return true;
  return depth > 0 && Object.values(value).every((member) => isNestedWithin(member, depth - 1));
}

const timeRule = "must be a time of RFC 3339";
