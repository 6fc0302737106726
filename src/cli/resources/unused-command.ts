// `gatehouse iam access unused`: which role bindings nobody used, with advice.
import type { JsonObject } from "@bufbuild/protobuf";
import { type Command, Option } from "commander";
import { isJsonObject } from "../../base/json.ts";
import { openSession, readCount, withList } from "../client/session.ts";
import { rowFormats } from "../output/formats.ts";
import type { View } from "../output/view.ts";
import { note, type Shell } from "../shell.ts";
import { limitOption, listOf, listPages, nameOrUid } from "./access-lists.ts";
import { groups } from "./groups.ts";
import { textAt } from "./json.ts";
import { findUid } from "./lookup.ts";
import { groupOption } from "./names.ts";

const unusedView: View = {
  noun: "role bindings",
  id: "binding.roleBindingUid",
  columns: [
    { title: "identity", value: ({ identity }) => nameOrUid(identity, "name", "uid") },
    { title: "role", value: ({ binding }) => nameOrUid(binding, "roleName", "roleUid") },
    { title: "bound at", value: ({ binding }) => nameOrUid(binding, "groupName", "groupUid") },
    { title: "last used", value: ({ lastUseTime }) => dayOf(lastUseTime) || "never" },
    {
      title: "used",
      value: ({ usedCapabilities, capabilityCount }) =>
        `${listOf(usedCapabilities).length}/${Number(capabilityCount ?? 0)}`,
    },
    { title: "advice", value: adviceOf },
    { title: "observed since", value: ({ observedSinceTime }) => dayOf(observedSinceTime), wide: true },
    {
      title: "capabilities",
      value: ({ usedCapabilities }) => listOf(usedCapabilities).map(capabilityOf).join(", "),
      wide: true,
    },
    { title: "binding", value: "binding.roleBindingUid" },
  ],
};

interface UnusedOptions {
  readonly group: string;
  readonly days: number;
  readonly showUsed?: boolean;
  readonly limit: number;
}

/** Adds the command to `gatehouse iam access`. */
export function addUnused(access: Command, shell: Shell): void {
  const unused = access
    .command("unused")
    .description("list the role bindings that nobody used for some days, with advice which to remove")
    .addOption(groupOption("--group", "the group, with the groups below it").makeOptionMandatory())
    .addOption(new Option("--days <count>", "days without a use, 7 to 400").argParser(readCount).default(90))
    .option("--show-used", "also role bindings in use")
    .addOption(limitOption());
  withList(unused, rowFormats).action(async () => {
    using session = await openSession(shell, unused);
    const { group, days, showUsed, limit } = unused.opts<UnusedOptions>();
    const request = {
      parent: await findUid(session, groups, group),
      unusedDays: days,
      ...(showUsed && { showUsed }),
    };
    const { AccessUsageService } = await import("../../../gen/gatehouse/access/v1/access_usage_pb.ts");
    const method = AccessUsageService.method.listUnusedAccess;
    const { recordedSinceTime } = await listPages(session, method, "bindings", request, () => unusedView, limit);
    note(session.shell, limitsOf(dayOf(recordedSinceTime), days));
  });
}

function limitsOf(recordedSince: string, days: number): string {
  if (recordedSince === "") return "Uses are not recorded: the server has --access-usage off.";
  return `Recorded since ${recordedSince}. Work that runs less often than every ${days} days is not seen.`;
}

/** Returns the day of a time, in UTC; empty for an absent one. */
function dayOf(time: unknown): string {
  return typeof time === "string" ? time.slice(0, 10) : "";
}

function adviceOf({ advice, delegationCount }: JsonObject): string {
  if (advice === "USAGE_ADVICE_REMOVE") return "remove";
  if (advice === "USAGE_ADVICE_TOO_EARLY") return "too early";
  return Number(delegationCount ?? 0) > 0 ? "has delegations" : "";
}

function capabilityOf(use: JsonObject): string {
  return isJsonObject(use) ? `${textAt(use, "capability")} (${dayOf(use.lastUseTime)})` : "";
}
