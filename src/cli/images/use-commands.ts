// `gatehouse images uses` and `gatehouse images unused`.
import type { JsonObject } from "@bufbuild/protobuf";
import { Argument, type Command, Option } from "commander";
import { completing } from "../client/completing.ts";
import { openSession, type Session, withList } from "../client/session.ts";
import { CommandFailure, wrongUsage } from "../failure.ts";
import { rowFormats } from "../output/formats.ts";
import type { View } from "../output/view.ts";
import { limitOption, listPages } from "../resources/access-lists.ts";
import { seconds } from "../resources/flags.ts";
import { groups } from "../resources/groups.ts";
import { textAt } from "../resources/json.ts";
import { findUid, listAll } from "../resources/lookup.ts";
import { groupOption, namesOf } from "../resources/names.ts";
import { repos } from "../resources/repos.ts";
import { note, type Shell } from "../shell.ts";
import { actorOf } from "./actor.ts";
import { findImage } from "./image-name.ts";

const useView: View = {
  noun: "uses",
  id: "digest",
  columns: [
    { title: "last used", value: "lastUseTime" },
    {
      title: "kind",
      value: ({ kind }) =>
        String(kind ?? "")
          .replace("USE_KIND_", "")
          .toLowerCase(),
    },
    { title: "by", value: actorOf },
    { title: "count", value: "count" },
    { title: "tags", value: ({ tags }) => textsOf(tags) },
    { title: "digest", value: "digest" },
    { title: "first used", value: "firstUseTime", wide: true },
  ],
};

/** Adds the commands to `gatehouse images`. */
export function addUseCommands(images: Command, shell: Shell): void {
  const uses = images
    .command("uses")
    .description("list who pulled or checked an image, or any image of a repo, the last use first")
    .addArgument(
      completing(new Argument("<image>", "repo, repo:tag or repo@sha256:…; the repo by name or uid"), namesOf(repos)),
    )
    .addOption(limitOption());
  withList(uses, rowFormats).action(async (text: string) => {
    using session = await openSession(shell, uses);
    const request = await findRepoOrImage(session, text);
    const { limit } = uses.opts<{ limit: number }>();
    const last = await listPages(session, (await methods()).listImageUses, "uses", request, () => useView, limit);
    note(shell, knownSince(last));
  });
  addUnused(images, shell);
}

interface UnusedOptions {
  readonly for: string;
  readonly group?: string;
  readonly repo?: string;
  readonly untagged?: boolean;
  readonly acceptIncomplete?: boolean;
  readonly limit: number;
}

function addUnused(images: Command, shell: Shell): void {
  const unused = images
    .command("unused")
    .description("list the images that nobody used for some days")
    .addOption(new Option("--for <time>", "how long nobody used them, in whole days").default("90d"))
    .addOption(groupOption("--group", "only those in this group, and in the groups below it").conflicts("repo"))
    .addOption(completing(new Option("--repo <name|uid>", "only those of this repo"), namesOf(repos)))
    .option("--untagged", "images that no tag names, too")
    .option("--accept-incomplete", "although uses are not known for so long: these images may be in use")
    .addOption(limitOption());
  withList(unused, rowFormats).action(async () => {
    const { for: time, group, repo, untagged, acceptIncomplete, limit } = unused.opts<UnusedOptions>();
    const unusedDays = daysOf(time);
    using session = await openSession(shell, unused);
    const parent =
      repo !== undefined
        ? await findUid(session, repos, repo)
        : group !== undefined
          ? await findUid(session, groups, group)
          : undefined;
    const request = {
      unusedDays,
      ...(parent !== undefined && { parent }),
      ...(untagged && { untagged }),
      ...(acceptIncomplete && { acceptIncomplete }),
    };
    const view = await unusedView(session, parent);
    const { listUnusedImages } = await methods();
    const last = await listPages(session, listUnusedImages, "images", request, () => view, limit).catch(explain);
    note(shell, knownSince(last));
  });
}

/** Throws the error of a list, with what to do if uses are not known for so long. */
function explain(error: unknown): never {
  if (!(error instanceof CommandFailure) || error.reason !== "USES_INCOMPLETE") throw error;
  throw error.with({ hint: "Ask for fewer days with --for, or list them all the same with --accept-incomplete." });
}

async function methods() {
  return (await import("../../../gen/gatehouse/registry/v1/image_uses_pb.ts")).ImageUsesService.method;
}

async function findRepoOrImage(session: Session, text: string): Promise<JsonObject> {
  if (/[@:]/.test(text)) return { ...(await findImage(session, text)) };
  return { repoUid: await findUid(session, repos, text) };
}

function daysOf(time: string): number {
  const days = seconds(time) / 86_400;
  if (!Number.isInteger(days)) throw wrongUsage(`${JSON.stringify(time)} is not a number of whole days such as 90d`);
  return days;
}

/** Returns the view of unused images, with the names of their repos. */
async function unusedView(session: Session, parent: string | undefined): Promise<View> {
  const isPrinted = ["table", "wide", "csv"].includes(session.output.format);
  const place = parent === undefined ? {} : { uidp: { descendantsOf: parent } };
  const found = isPrinted ? await listAll(session, repos, place) : [];
  const names = new Map(found.map((repo) => [textAt(repo, "uid"), textAt(repo, "name")]));
  return {
    noun: "images",
    id: "digest",
    columns: [
      { title: "repo", value: ({ repoUid }) => names.get(String(repoUid)) ?? String(repoUid) },
      { title: "tags", value: ({ tags }) => textsOf(tags) },
      { title: "digest", value: "digest" },
      { title: "pushed", value: "pushTime" },
      { title: "last used", value: ({ lastUseTime }) => String(lastUseTime ?? "never") },
      { title: "repo uid", value: "repoUid", wide: true },
    ],
  };
}

function textsOf(value: JsonObject[string] | undefined): string {
  return Array.isArray(value) ? value.join(", ") : "";
}

function knownSince({ coverageStartTime }: JsonObject): string {
  return typeof coverageStartTime === "string"
    ? `Uses are known since ${coverageStartTime}.`
    : "It is not known who uses these images: no registry notifies of it, or uses are not recorded.";
}
