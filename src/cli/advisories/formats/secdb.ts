// The security database of Alpine and of distributions like it: which version of a package fixed what.
import { AdvisoryEvent_FalsePositiveDetermination_Type as Reason } from "../../../../gen/chainguard/platform/vulnerabilities/v2beta1/advisories_pb.ts";
import { isJsonObject, type JsonObject } from "../../../json.ts";
import { derivedId } from "../../../services/vulnerabilities/advisory-fields.ts";
import { list, members, requiredText, texts } from "../document.ts";
import type { Reader } from "../reader.ts";
import type { EventType, Found } from "../record.ts";
import { falsePositive, fixedIn } from "../statuses.ts";

/** Whether a document is such a database. */
export function isSecdb(document: unknown): boolean {
  return (
    isJsonObject(document) && Array.isArray(document.packages) && ("apkurl" in document || "urlprefix" in document)
  );
}

/** Reads a database. What is said of a package and a vulnerability under several versions is one advisory. */
export const readSecdb: Reader = function* (document, options) {
  const database = members(document, "the database");
  const archs = texts(database.archs, "archs");
  const architecture = archs.length === 1 ? archs[0]! : "";
  for (const item of list(database.packages, "packages")) {
    const { pkg } = isJsonObject(item) ? item : {};
    const name = isJsonObject(pkg) && typeof pkg.name === "string" ? pkg.name : "";
    yield { name, read: () => readPackage(members(pkg, "pkg"), architecture, options.author || "secdb") };
  }
};

function readPackage(pkg: JsonObject, architecture: string, author: string): Found[] {
  const artifact = { name: requiredText(pkg.name, "pkg.name"), type: "apk", architecture };
  const byVulnerability = new Map<string, { readonly aliases: Set<string>; readonly types: EventType[] }>();
  for (const [version, fixes] of Object.entries(members(pkg.secfixes ?? {}, "secfixes"))) {
    for (const fix of texts(fixes, `secfixes.${version}`)) {
      // An entry can be several ids of one vulnerability.
      const ids = fix.split(/\s+/).filter((id) => id !== "" && !id.startsWith("("));
      const [first] = ids;
      if (first === undefined) continue;
      const known = byVulnerability.get(first) ?? { aliases: new Set(), types: [] };
      byVulnerability.set(first, known);
      for (const id of ids) known.aliases.add(id);
      known.types.push(version === "0" ? falsePositive(Reason.UNSPECIFIED) : fixedIn(version));
    }
  }
  return [...byVulnerability].map(([vulnerability, { aliases, types }]) => ({
    id: derivedId(artifact, vulnerability),
    ...{ author, artifact, aliases: [...aliases], origin: artifact.name },
    events: types.map((type) => ({ time: undefined, type })),
  }));
}
