// Reads SPDX JSON 2.2 and 2.3 (ISO/IEC 5962).
import { BadDocument } from "../advisories/document.ts";
import { isJsonObject, type JsonObject, scalarText } from "../base/json.ts";
import { Components, type OperatingSystem } from "./components.ts";
import type { Sbom } from "./sbom.ts";

/** Purposes of elements that SPDX calls packages. Only with a package URL do they count as one. */
const otherPurposes: ReadonlySet<string> = new Set([
  "ARCHIVE",
  "CONTAINER",
  "FILE",
  "OPERATING-SYSTEM",
  "OPERATING_SYSTEM",
]);

/** The members that are read, wherever they are. */
export const spdxMembers = (
  "@context spdxVersion creationInfo creators documentDescribes relationships relationshipType relatedSpdxElement " +
  "packages SPDXID name versionInfo primaryPackagePurpose externalRefs referenceType referenceLocator"
).split(" ");

/** Returns whether a document is of this format. */
export function isSpdx(document: JsonObject): boolean {
  return versionOf(document) !== "";
}

/** SPDX 3 is JSON-LD and has its version elsewhere. It is named because many programs write it in place of SPDX 2. */
function versionOf({ spdxVersion, "@context": context }: JsonObject): string {
  if (/^https:\/\/spdx\.org\/rdf\/3\./.test(scalarText(context))) return "SPDX-3";
  return typeof spdxVersion === "string" ? spdxVersion : "";
}

/** Reads a document. */
export function readSpdx(document: JsonObject): Omit<Sbom, "isSigned"> {
  const version = versionOf(document);
  if (!/^SPDX-2\.[23]$/.test(version))
    throw new BadDocument(`is ${version.slice(0, 20)}, but only SPDX 2.2 and 2.3 can be read`);
  const packages = packagesOf(document);
  const components = new Components(systemIn(packages));
  const described = describedBy(document);
  for (const each of packages) {
    const purls = purlsOf(each);
    const isOther = described.has(scalarText(each.SPDXID)) || otherPurposes.has(scalarText(each.primaryPackagePurpose));
    if (purls.length > 0 || !isOther) components.add(scalarText(each.name), purls);
  }
  return {
    format: `SPDX ${version.slice("SPDX-".length)}`,
    tool: toolOf(document.creationInfo),
    ...components.found(),
  };
}

function packagesOf({ packages = [] }: JsonObject): JsonObject[] {
  if (!Array.isArray(packages) || !packages.every(isJsonObject))
    throw new BadDocument("has packages that are not objects");
  return packages;
}

function purlsOf({ externalRefs }: JsonObject): string[] {
  const references = Array.isArray(externalRefs) ? externalRefs.filter(isJsonObject) : [];
  return references.flatMap(({ referenceType, referenceLocator }) =>
    referenceType === "purl" && typeof referenceLocator === "string" && referenceLocator !== ""
      ? [referenceLocator]
      : [],
  );
}

/** Returns the ids of the packages that the whole document is about. */
function describedBy({ documentDescribes, relationships }: JsonObject): ReadonlySet<string> {
  const named: unknown[] = Array.isArray(documentDescribes) ? documentDescribes : [];
  const related = (Array.isArray(relationships) ? relationships : []).flatMap((each: unknown) =>
    isJsonObject(each) && each.relationshipType === "DESCRIBES" ? [each.relatedSpdxElement] : [],
  );
  return new Set([...named, ...related].map(scalarText));
}

function systemIn(packages: readonly JsonObject[]): OperatingSystem | undefined {
  const system = packages.find(({ primaryPackagePurpose: purpose }) =>
    /^OPERATING[-_]SYSTEM$/.test(scalarText(purpose)),
  );
  const [name, version] = [scalarText(system?.name), scalarText(system?.versionInfo)];
  return name === "" || version === "" ? undefined : { name, version };
}

/** Creators are texts such as "Tool: syft-1.4.0". */
function toolOf(creationInfo: unknown): string {
  const creators = isJsonObject(creationInfo) && Array.isArray(creationInfo.creators) ? creationInfo.creators : [];
  const tool = creators.find((creator) => /^Tool:/.test(scalarText(creator)));
  return scalarText(tool).replace(/^Tool:\s*/, "");
}
