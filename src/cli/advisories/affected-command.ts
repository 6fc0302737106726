// `gatehouse advisories affected`: what advisories say of versions of packages.
import type { JsonObject } from "@bufbuild/protobuf";
import { type Command, Option } from "commander";
import { openSession, type Session, withList } from "../client/session.ts";
import { wrongUsage } from "../failure.ts";
import { rowFormats } from "../output/formats.ts";
import type { View } from "../output/view.ts";
import { groupOption } from "../resources/names.ts";
import type { Shell } from "../shell.ts";

const view: View = {
  noun: "advisories",
  nameOf: (row) => String(row.advisoryId ?? ""),
  columns: [
    { title: "package", value: "package" },
    { title: "advisory", value: "advisoryId" },
    { title: "vulnerability", value: "vulnerability" },
    { title: "status", value: statusOf, member: "status" },
    { title: "fixed in", value: "fixedVersions" },
    { title: "aliases", value: "aliases", wide: true },
    { title: "uid", value: "uid", wide: true },
  ],
};

/** The maximum number of packages in one request. */
const batchSize = 1000;

interface AffectedFlags {
  readonly version?: string;
  readonly group?: string;
  readonly all?: boolean;
}

/** Statuses that require action. */
const open: ReadonlySet<unknown> = new Set(["PRODUCT_STATUS_AFFECTED", "PRODUCT_STATUS_UNDER_INVESTIGATION"]);

/** Adds the command to those of advisories. */
export function addAffected(advisories: Command, shell: Shell): void {
  const command = advisories
    .command("affected")
    .description("show what advisories say of versions of packages")
    .argument("<purl...>", "package URLs, such as pkg:apk/wolfi/curl@8.5.0-r0")
    .addOption(new Option("--version <version>", "version for a package URL without one"))
    .option("--all", "also advisories by which the version is fixed or not affected")
    .addOption(groupOption("--group", "only advisories of this group and its subgroups"));
  withList(command, rowFormats).action(async (purls: string[]) => {
    const { version = "", group, all = false } = command.opts<AffectedFlags>();
    if (version !== "" && purls.length > 1)
      throw wrongUsage(
        "--version is for one package",
        "Write the version into each package URL: pkg:npm/lodash@4.17.20.",
      );
    using session = await openSession(shell, command);
    const uidp = group === undefined ? {} : { uidp: { descendantsOf: await groupUid(session, group) } };
    const rows: JsonObject[] = [];
    for (let i = 0; i < purls.length; i += batchSize) {
      const queries = purls.slice(i, i + batchSize).map((purl) => ({ purl, version }));
      rows.push(...(await askAll(session, queries, uidp)));
    }
    const shown = all ? rows : rows.filter(({ status }) => open.has(status));
    await session.output.list(view, session.output.arrange(view, shown, "as it is"));
  });
}

async function groupUid(session: Session, group: string): Promise<string> {
  const [{ findUid }, { groups }] = await Promise.all([
    import("../resources/lookup.ts"),
    import("../resources/groups.ts"),
  ]);
  return await findUid(session, groups, group);
}

async function askAll(session: Session, queries: readonly { purl: string }[], uidp: JsonObject): Promise<JsonObject[]> {
  const { AdvisoryQueryService } = await import("../../../gen/gatehouse/vulnerabilities/v1/query_pb.ts");
  const { batchQueryAffected, queryAffected } = AdvisoryQueryService.method;
  const { results } = await session.call(batchQueryAffected, { ...uidp, queries: [...queries] });
  const rows: JsonObject[] = [];
  for (const [i, query] of queries.entries()) {
    let page = ((results as JsonObject[] | undefined)?.[i] ?? {}) as JsonObject;
    rows.push(...advisoriesOf(page, query.purl));
    while (page.nextPageToken) {
      page = await session.call(queryAffected, { ...uidp, query, pageToken: page.nextPageToken, pageSize: 200 });
      rows.push(...advisoriesOf(page, query.purl));
    }
  }
  return rows;
}

function advisoriesOf({ advisories }: JsonObject, purl: string): JsonObject[] {
  return ((advisories as JsonObject[] | undefined) ?? []).map((advisory) => ({ package: purl, ...advisory }));
}

function statusOf({ status, uncertain }: JsonObject): string {
  const word = String(status ?? "")
    .replace("PRODUCT_STATUS_", "")
    .replaceAll("_", " ")
    .toLowerCase();
  return uncertain === true ? `${word}?` : word;
}
