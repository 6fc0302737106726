// Reads an exported organization line by line, so memory does not grow with the file.
import { createReadStream } from "node:fs";
import { stat } from "node:fs/promises";
import { fromJson, type JsonObject, type JsonValue } from "@bufbuild/protobuf";
import {
  type OrganizationResource,
  OrganizationResourceSchema,
} from "../../../gen/gatehouse/organizations/v1/organizations_pb.ts";
import { errorMessage } from "../../base/system-error.ts";
import { isBelow, isUid } from "../../model/uid.ts";
import { printable } from "../escape.ts";
import { CommandFailure, wrongUsage } from "../failure.ts";
import { formatVersion, type Kind } from "./format.ts";

/** The maximum length of a line in UTF-16 units: no request can have a longer resource. */
const maxLine = 3 * 1024 * 1024;

/** A resource of the file. */
export interface Line {
  readonly number: number;
  readonly kind: Kind;
  readonly uid: string;
  readonly name: string;
  readonly resource: OrganizationResource;
  /** The number of characters. */
  readonly size: number;
  /** At least the number of JSON values. */
  readonly values: number;
}

/** What a whole file says. */
export interface FileSummary {
  /** The uid of the organization. */
  readonly organization: string;
  readonly resources: number;
}

/** Checks a whole file: an import must not begin with a truncated or damaged one. Fails with the line and the field. */
export async function checkFile(file: string): Promise<FileSummary> {
  const found = await stat(file).catch((error: unknown) => {
    throw wrongUsage(`${file} cannot be read: ${errorMessage(error)}`);
  });
  if (!found.isFile()) throw wrongUsage(`${file} must be a regular file, because an import reads it twice`);
  let organization = "";
  let resources = 0;
  const counts: Record<string, number> = {};
  let isComplete = false;
  for await (const { number, text } of textLines(file)) {
    const fail = failureAt(file, number);
    if (isComplete) throw fail("comes after the end line");
    const json = parseLine(text, fail);
    if (number === 1) organization = organizationOf(json, fail);
    else if (json.end !== undefined) {
      checkCounts(json.end as JsonObject, counts, fail);
      isComplete = true;
    } else {
      const { kind } = toLine(number, text, json, organization, fail);
      counts[kind] = (counts[kind] ?? 0) + 1;
      resources++;
    }
  }
  if (isComplete) return { organization, resources };
  throw new CommandFailure(`${file} has no end line: it is truncated`, { hint: "Export the organization again." });
}

/** Yields the resources of a file that was checked. */
export async function* resourcesIn(file: string, organization: string): AsyncGenerator<Line> {
  for await (const { number, text } of textLines(file)) {
    const fail = failureAt(file, number);
    const json = parseLine(text, fail);
    if (number > 1 && json.end === undefined) yield toLine(number, text, json, organization, fail);
  }
}

type Fail = (problem: string) => CommandFailure;

function failureAt(file: string, number: number): Fail {
  return (problem) => new CommandFailure(`${file}: line ${number}: ${printable(problem)}`);
}

function parseLine(text: string, fail: Fail): JsonObject {
  let json: JsonValue;
  try {
    json = JSON.parse(text) as JsonValue;
  } catch (error) {
    throw fail(`is not JSON: ${errorMessage(error)}`);
  }
  if (typeof json === "object" && json !== null && !Array.isArray(json)) return json;
  throw fail("must be a JSON object");
}

function organizationOf({ gatehouseOrganization: version, organization }: JsonObject, fail: Fail): string {
  if (version === undefined) throw fail("gatehouseOrganization: is required: this is not an exported organization");
  if (version !== formatVersion)
    throw fail(`gatehouseOrganization: format version ${JSON.stringify(version)} is unknown; known: ${formatVersion}`);
  if (typeof organization === "string" && isUid(organization) && !organization.includes("/")) return organization;
  throw fail("organization: must be the uid of an organization");
}

function checkCounts({ counts }: JsonObject, found: Readonly<Record<string, number>>, fail: Fail): void {
  const stated = (counts ?? {}) as JsonObject;
  for (const kind of new Set([...Object.keys(stated), ...Object.keys(found)])) {
    const [has, says] = [found[kind] ?? 0, stated[kind] ?? 0];
    if (has !== says) throw fail(`end.counts.${kind}: is ${JSON.stringify(says)}, but the file has ${has}`);
  }
}

function toLine(number: number, text: string, json: JsonObject, organization: string, fail: Fail): Line {
  let resource: OrganizationResource;
  try {
    resource = fromJson(OrganizationResourceSchema, json);
  } catch (error) {
    throw fail(errorMessage(error).replaceAll("gatehouse.organizations.v1.", ""));
  }
  const { case: kind, value } = resource.resource;
  if (kind === undefined) throw fail("must have one resource, such as group");
  const { uid } = value;
  if (!isUid(uid) || (uid !== organization && !isBelow(uid, organization)))
    throw fail(`${kind}.uid: must be a uid below that of the organization, ${organization}`);
  const name = "name" in value ? value.name : "";
  return { number, kind, uid, name, resource, size: text.length, values: text.split(/[,[{]/).length };
}

async function* textLines(file: string): AsyncGenerator<{ number: number; text: string }> {
  let number = 0;
  let rest = "";
  for await (const chunk of createReadStream(file, "utf8") as AsyncIterable<string>) {
    const lines = (rest + chunk).split("\n");
    rest = lines.pop()!;
    for (const text of lines) yield { number: ++number, text };
    if (rest.length > maxLine) throw failureAt(file, number + 1)(`is longer than ${maxLine} characters`);
  }
  if (rest !== "") yield { number: ++number, text: rest };
}
