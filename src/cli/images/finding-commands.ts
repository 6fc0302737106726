// `gatehouse images findings` and `gatehouse images affected`: what advisories say about images.
import type { JsonObject } from "@bufbuild/protobuf";
import { Argument, type Command, Option } from "commander";
import { completing } from "../client/completing.ts";
import { openSession, withClient, withList } from "../client/session.ts";
import { rowFormats } from "../output/formats.ts";
import type { View } from "../output/view.ts";
import { groups } from "../resources/groups.ts";
import { findUid } from "../resources/lookup.ts";
import { groupOption, namesOf } from "../resources/names.ts";
import { type Finish, note, type Shell } from "../shell.ts";
import { actorOf } from "./actor.ts";
import { findImage, imageArgument } from "./image-name.ts";
import { completeness, readAllPages } from "./pages.ts";

/** The severities, from the lowest on. */
const severities = ["low", "medium", "high", "critical"] as const;
type Severity = (typeof severities)[number];

/** The exit codes of `--fail-on`. */
const exitCodes = { found: 1, notChecked: 3 } as const;

const findingView: View = {
  noun: "findings",
  id: "advisoryUid",
  nameOf: ({ vulnerability }) => String(vulnerability ?? ""),
  columns: [
    {
      title: "severity",
      value: ({ severity }) => wordOf(severity, "VULNERABILITY_SEVERITY_") || "unknown",
      member: "severity",
    },
    { title: "vulnerability", value: "vulnerability" },
    { title: "package", value: "purl" },
    { title: "status", value: ({ status }) => wordOf(status, "PRODUCT_STATUS_"), member: "status" },
    { title: "fixed in", value: "fixedVersions" },
    { title: "advisory", value: "advisoryId", wide: true },
    { title: "aliases", value: "aliases", wide: true },
    { title: "known since", value: "firstKnownTime", wide: true },
    { title: "digests", value: "digests", wide: true },
    { title: "statement", value: "imageStatement", wide: true },
  ],
};

const affectedView: View = {
  noun: "images",
  id: "digest",
  nameOf: ({ repoName, tags }) => `${String(repoName ?? "")}:${String((tags as string[] | undefined)?.[0] ?? "")}`,
  columns: [
    { title: "repo", value: "repoName" },
    { title: "tags", value: "tags" },
    { title: "digest", value: "digest" },
    { title: "platform", value: "architecture" },
    { title: "package", value: "purls" },
    { title: "pushed", value: "pushTime" },
    { title: "last used", value: lastUse, member: "lastUse" },
    { title: "vulnerabilities", value: "vulnerabilities", wide: true },
    { title: "repo uid", value: "repoUid", wide: true },
  ],
};

/** Such as `2026-11-28 (pull, prod)`. */
function lastUse({ lastUse: use }: JsonObject): string {
  if (typeof use !== "object" || use === null || Array.isArray(use)) return "";
  const by = [wordOf(use.kind, "USE_KIND_"), actorOf(use)].filter((each) => each !== "").join(", ");
  return `${String(use.time ?? "").slice(0, 10)} (${by})`;
}

interface FindingFlags {
  readonly architecture?: string;
  readonly severity?: Severity;
  readonly fixable?: boolean;
  readonly failOn?: Severity;
}

/** Adds the commands. */
export function addFindingCommands(images: Command, shell: Shell, finish: Finish): void {
  const findings = images
    .command("findings")
    .description("list what advisories say about the packages of an image, the most severe first")
    .addArgument(imageArgument())
    .addOption(new Option("--architecture <name>", "only this platform of an index, such as amd64"))
    .addOption(new Option("--severity <severity>", "only findings that are at least as severe").choices(severities))
    .option("--fixable", "only findings with a version that is fixed")
    .addOption(
      new Option(
        "--fail-on <severity>",
        "exit code 1 if a finding is at least as severe, 3 if the image is not fully checked",
      ).choices(severities),
    );
  withList(findings, rowFormats).action(async (image: string) => {
    using session = await openSession(shell, findings);
    const { architecture, severity, fixable, failOn } = findings.opts<FindingFlags>();
    const filter = {
      ...(architecture !== undefined && { architecture }),
      ...(severity !== undefined && { minSeverity: `VULNERABILITY_SEVERITY_${severity.toUpperCase()}` }),
      ...(fixable && { fixable }),
    };
    const request = { ...(await findImage(session, image)), ...filter };
    const { rows, last } = await readAllPages(session, (await methods()).listImageFindings, "findings", request);
    await session.output.list(findingView, session.output.arrange(findingView, rows, "as it is"));
    note(shell, completeness(last));
    if (failOn !== undefined) finish(exitCodeOf(rows, last, failOn));
  });
  addAffected(images, shell);
  addEvaluate(images, shell);
}

function addEvaluate(images: Command, shell: Shell): void {
  const evaluate = images
    .command("evaluate")
    .description("compare all packages of the images of a group with all advisories again")
    .addArgument(completing(new Argument("<group>", "name or uid; the groups below it count, too"), namesOf(groups)));
  withClient(evaluate).action(async (group: string) => {
    using session = await openSession(shell, evaluate);
    const parent = await findUid(session, groups, group);
    const { packageCount = 0 } = await session.call((await methods()).evaluateImages, { parent });
    note(shell, `${packageCount} packages are compared with all advisories again, in the background.`);
  });
}

function exitCodeOf(rows: readonly JsonObject[], { state }: JsonObject, failOn: Severity): number {
  const least = severities.indexOf(failOn);
  if (rows.some(({ severity }) => severities.indexOf(wordOf(severity, "VULNERABILITY_SEVERITY_") as Severity) >= least))
    return exitCodes.found;
  return state === "CHECK_STATE_CHECKED" ? 0 : exitCodes.notChecked;
}

function addAffected(images: Command, shell: Shell): void {
  const affected = images
    .command("affected")
    .description("list the images that a vulnerability or a package is in")
    .addArgument(new Argument("<vulnerability|purl>", "such as CVE-2026-1234, or pkg:npm/lodash@4.17.20"))
    .addOption(groupOption("--group", "only images of repos in this group and below it"))
    .option("--untagged", "also images without a tag");
  withList(affected, rowFormats).action(async (text: string) => {
    using session = await openSession(shell, affected);
    const { group, untagged } = affected.opts<{ group?: string; untagged?: boolean }>();
    const request = {
      ...(text.startsWith("pkg:") ? { purl: text } : { vulnerability: text }),
      ...(group !== undefined && { parent: await findUid(session, groups, group) }),
      ...(untagged && { untagged }),
    };
    const { rows } = await readAllPages(session, (await methods()).listAffectedImages, "images", request);
    await session.output.list(affectedView, session.output.arrange(affectedView, rows, "as it is"));
  });
}

async function methods() {
  return (await import("../../../gen/gatehouse/registry/v1/image_contents_pb.ts")).ImageContentsService.method;
}

function wordOf(value: unknown, prefix: string): string {
  return String(value ?? "")
    .replace(prefix, "")
    .replaceAll("_", " ")
    .toLowerCase()
    .replace("unspecified", "");
}
