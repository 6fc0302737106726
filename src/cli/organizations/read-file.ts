// Reads an exported organization line by line, so memory does not grow with the file.
import { createReadStream } from "node:fs";
import { stat } from "node:fs/promises";
import { fromJson, type JsonObject, type JsonValue } from "@bufbuild/protobuf";
import {
  type OrganizationResource,
  OrganizationResourceSchema,
} from "../../../gen/gatehouse/organizations/v1/organizations_pb.ts";
import { errorMessage } from "../../base/system-error.ts";
import { decodeUtf8 } from "../../base/text-file.ts";
import { isBelow, isUid } from "../../model/uid.ts";
import { byteLines } from "../byte-lines.ts";
import { printable } from "../escape.ts";
import { CommandFailure, wrongUsage } from "../failure.ts";
import { formatVersion, type Kind } from "./format.ts";
import type { Decrypt } from "./recipient.ts";

/** The maximum size of a line in bytes: no request can have a longer resource, such as an SBOM of 3.5 MiB in base64. */
const maxLine = 5 * 1024 * 1024;

/** A resource of the file. */
export interface Line {
  readonly number: number;
  readonly kind: Kind;
  readonly uid: string;
  readonly name: string;
  readonly resource: OrganizationResource;
  /** Whether it is an identity provider with an encrypted client secret that was not decrypted. */
  readonly lacksSecret: boolean;
  /** The number of characters. */
  readonly size: number;
  /** At least the number of JSON values. */
  readonly values: number;
}

/** The summary of a whole file. */
export interface FileSummary {
  /** The uid of the organization. */
  readonly organization: string;
  readonly resources: number;
}

/** Checks a whole file: an import must not begin with a truncated or damaged one. Fails with the line and the field. */
export async function checkFile(file: string, decrypt?: Decrypt): Promise<FileSummary> {
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
      const { kind } = await toLine(number, text, json, organization, fail, decrypt);
      counts[kind] = (counts[kind] ?? 0) + 1;
      resources++;
    }
  }
  if (isComplete) return { organization, resources };
  throw new CommandFailure(`${file} has no end line: it is truncated`, { hint: "Export the organization again." });
}

/** Yields the resources of a file that was checked. */
export async function* resourcesIn(file: string, organization: string, decrypt?: Decrypt): AsyncGenerator<Line> {
  for await (const { number, text } of textLines(file)) {
    const fail = failureAt(file, number);
    const json = parseLine(text, fail);
    if (number > 1 && json.end === undefined) yield await toLine(number, text, json, organization, fail, decrypt);
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

async function toLine(
  number: number,
  text: string,
  { encryptedClientSecret: jwe, ...json }: JsonObject,
  organization: string,
  fail: Fail,
  decrypt: Decrypt | undefined,
): Promise<Line> {
  const resource = parseResource(json, fail);
  const { case: kind, value } = resource.resource;
  if (kind === undefined) throw fail("must have one resource, such as group");
  const { uid } = value;
  if (!isUid(uid) || (uid !== organization && !isBelow(uid, organization)))
    throw fail(`${kind}.uid: must be a uid below that of the organization, ${organization}`);
  if (jwe !== undefined && decrypt) await addSecret(resource, jwe, decrypt, fail);
  const name = "name" in value ? value.name : "digest" in value ? value.digest : "";
  const lacksSecret = jwe !== undefined && !decrypt;
  return { number, kind, uid, name, resource, lacksSecret, size: text.length, values: text.split(/[,[{]/).length };
}

function parseResource(json: JsonObject, fail: Fail): OrganizationResource {
  try {
    return fromJson(OrganizationResourceSchema, json);
  } catch (error) {
    throw fail(errorMessage(error).replaceAll("gatehouse.organizations.v1.", ""));
  }
}

/**
 * Decrypts the client secret of an identity provider. Anyone could have changed the file: the secret must be of this provider, and is
 * sent to its issuer only.
 */
async function addSecret({ resource }: OrganizationResource, jwe: JsonValue, decrypt: Decrypt, fail: Fail) {
  const oidc = resource.case === "identityProvider" ? resource.value.configuration.value : undefined;
  if (resource.case !== "identityProvider" || !oidc)
    throw fail("encryptedClientSecret: belongs to an identity provider with OpenID Connect only");
  const { identityProvider, issuer, clientSecret } = await decrypt(String(jwe)).catch((error: unknown) => {
    throw fail(`encryptedClientSecret: ${errorMessage(error)}`);
  });
  if (identityProvider !== resource.value.uid || issuer !== oidc.issuer)
    throw fail("encryptedClientSecret: is of another identity provider or issuer");
  oidc.clientSecret = clientSecret;
}

async function* textLines(file: string): AsyncGenerator<{ number: number; text: string }> {
  const chunks = createReadStream(file) as AsyncIterable<Buffer>;
  const tooLong = (number: number) => failureAt(file, number)(`is longer than ${maxLine} bytes`);
  for await (const { bytes, number, offset } of byteLines(chunks, maxLine, tooLong))
    yield { number, text: decode(bytes, offset, failureAt(file, number)) };
}

function decode(bytes: Buffer, offset: number, fail: Fail): string {
  try {
    return decodeUtf8(bytes, offset);
  } catch (error) {
    throw fail(errorMessage(error));
  }
}
