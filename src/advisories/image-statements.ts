// Statements of OpenVEX about images: those with a product such as `pkg:oci/shop`, and about which packages of the image they are.
import type { AdvisoryStatements, Product, ProductStatus } from "../../gen/gatehouse/vulnerabilities/v1/records_pb.ts";
import { RecordFormat } from "../../gen/gatehouse/vulnerabilities/v1/records_pb.ts";
import { holdingRecords, type SaidStatement, saidTime } from "./derive/holding.ts";
import { packageKeyOf } from "./product.ts";
import { type Purl, readPurl, writePurl } from "./purl.ts";
import { worstOf } from "./versions/status.ts";

/** A statement about images. */
export interface ImageStatement {
  /** The uid of the group of its advisory. */
  readonly groupUid: string;
  /** The source and the document of its record, such as "acme: https://example.com/vex/7". */
  readonly record: string;
  /** The ids of the vulnerability. */
  readonly vulnerabilities: ReadonlySet<string>;
  readonly status: ProductStatus;
  readonly justification: string;
  /** In milliseconds since the epoch; that of the record if the statement has none, 0 if neither has one. */
  readonly time: number;
  /** The last component of the repository, in lower case. */
  readonly name: string;
  /** Empty if it names none. */
  readonly repositoryUrl: string;
  /** Empty for all digests. */
  readonly digest: string;
  /** Empty for all architectures. */
  readonly architecture: string;
  /** The packages that it is about; empty for all packages of the image. */
  readonly parts: readonly string[];
}

/** Returns the key by which advisories about images of a repository are found; `name` is its last component. */
export function imageKeyOf(name: string): string {
  const purl = writePurl({ type: "oci", namespace: "", name, version: "", qualifiers: new Map(), subpath: "" });
  return packageKeyOf({ purl } as Product);
}

/** Returns the statements of an advisory about images. A tag without digest names no image, since tags move. */
export function imageStatementsOf({ advisory, records }: AdvisoryStatements, groupUid: string): ImageStatement[] {
  const id = advisory?.advisoryId ?? "";
  const known = [id, ...(advisory?.aliases ?? [])];
  const live = records.filter(({ format, withdrawTime }) => format === RecordFormat.OPENVEX && !withdrawTime);
  return holdingRecords(id, live).flatMap((record) =>
    record.statements.flatMap((statement) => {
      const purl = readPurl(statement.product?.purl ?? "");
      if (purl?.type !== "oci") return [];
      const vulnerabilities = new Set(
        [...known, record.vulnerability, ...record.aliases].filter((each) => each !== ""),
      );
      return digestsOf({ record, statement }, purl).map((digest) => ({
        groupUid,
        record: `${record.source}: ${record.document}`,
        vulnerabilities,
        status: statement.status,
        justification: statement.justification,
        time: saidTime({ record, statement }) ?? 0,
        name: purl.name.toLowerCase(),
        repositoryUrl: purl.qualifiers.get("repository_url") ?? "",
        digest,
        architecture: purl.qualifiers.get("arch") ?? "",
        parts: statement.subcomponents,
      }));
    }),
  );
}

function digestsOf({ statement: { versions } }: SaidStatement, { qualifiers }: Purl): readonly string[] {
  if (versions.length > 0) return versions;
  return qualifiers.has("tag") ? [] : [""];
}

/** Whether a statement is about a package of its image. Versions and qualifiers count as far as both name them. */
export function isAboutPart({ parts }: Pick<ImageStatement, "parts">, purl: string): boolean {
  return parts.length === 0 || parts.some((part) => mayBeSamePackage(part, purl));
}

function mayBeSamePackage(part: string, purl: string): boolean {
  const [named, found] = [readPurl(part), readPurl(purl)];
  if (!named || !found || packageKeyOf({ purl: part } as Product) !== packageKeyOf({ purl } as Product)) return false;
  const agree = (a: string, b: string) => a === "" || b === "" || a === b;
  return (
    agree(named.version, found.version) &&
    agree(named.subpath, found.subpath) &&
    [...named.qualifiers].every(([key, value]) => agree(value, found.qualifiers.get(key) ?? ""))
  );
}

/** Returns the statement that counts: the latest, and the worst of several that are equally late. */
export function decidingStatement<S extends Pick<ImageStatement, "status" | "time">>(
  statements: readonly S[],
): S | undefined {
  const latest = Math.max(...statements.map(({ time }) => time));
  const last = statements.filter(({ time }) => time === latest);
  const worst = worstOf(last.map(({ status }) => ({ status, fixedVersions: [], isUncertain: false })));
  return last.find(({ status }) => status === worst?.status);
}
