// `gatehouse statistics list`: what happened in a group, by day or week.
import type { JsonObject } from "@bufbuild/protobuf";
import { type Command, Option } from "commander";
import { openSession, withList } from "../client/session.ts";
import { clientCommands } from "../command-names.ts";
import { rowFormats } from "../output/formats.ts";
import type { View } from "../output/view.ts";
import { note, type Shell } from "../shell.ts";
import { list as listOf, timeOrAgo } from "./flags.ts";
import { textAt } from "./json.ts";
import { groupOption } from "./names.ts";
import { findGroupOrOnly } from "./parent-group.ts";

/** The metrics of a table that fits a terminal. */
const defaultMetrics = "sign_ins,exchanges,denials,access_changes,changes,deliveries";

interface Options {
  readonly parent?: string;
  readonly metrics: string;
  readonly since?: string;
  readonly until?: string;
  readonly step: "day" | "week";
}

/** Adds the command. */
export function addStatisticsCommands(program: Command, shell: Shell): void {
  const statistics = program.command("statistics").description(clientCommands.statistics);
  const list = statistics
    .command("list")
    .description("count what happened in a group and its subgroups, a line for each day or week in UTC")
    .addOption(groupOption("--parent", "the group (default.group, or your only organization)"))
    .option("--metrics <names>", "what to count, at most 12", defaultMetrics)
    .option("--since <time|duration>", "the first day, such as 90d or 2026-11-01; without it, 29 days before the last")
    .option("--until <time|duration>", "the last day, likewise; without it, today")
    .addOption(new Option("--step <length>", "the length of a line").choices(["day", "week"]).default("day"));
  withList(list, rowFormats).action(async () => {
    using session = await openSession(shell, list);
    const { parent, metrics, since, until, step } = list.opts<Options>();
    const { StatisticsService } = await import("../../../gen/gatehouse/organizations/v1/statistics_pb.ts");
    const reply = await session.call(StatisticsService.method.queryStatistics, {
      group: await findGroupOrOnly(session, parent, "statistics are those of a group"),
      metrics: listOf(metrics),
      step: `STATISTICS_STEP_${step.toUpperCase()}`,
      ...(since !== undefined && { startDay: dayOf(since) }),
      ...(until !== undefined && { endDay: dayOf(until) }),
    });
    const shown = membersOf(reply, "metrics");
    const view = viewOf(shown.map((each) => textAt(each, "metric")));
    await session.output.list(view, session.output.arrange(view, rowsOf(reply, shown), "as it is"));
    noteGaps(shell, reply, shown);
  });
}

function dayOf(time: string): string {
  return timeOrAgo(time).slice(0, 10);
}

function viewOf(metrics: readonly string[]): View {
  const columns = [
    { title: "day", value: "day" },
    ...metrics.map((name) => ({ title: name.replaceAll("_", " "), value: name })),
  ];
  return { noun: "days", id: "day", columns, nameOf: (row) => textAt(row, "day") };
}

/** Returns an object for each step, with the counts as numbers. */
function rowsOf(reply: JsonObject, shown: readonly JsonObject[]): JsonObject[] {
  const days = (reply.days as string[] | undefined) ?? [];
  return days.map((day, i) => {
    const counts = shown.map(({ metric, counts }) => [String(metric), Number((counts as string[])[i])]);
    return { day, ...Object.fromEntries(counts) };
  });
}

/** Says which metrics are missing, and since when the others are counted. */
function noteGaps(shell: Shell, reply: JsonObject, shown: readonly JsonObject[]): void {
  for (const missing of membersOf(reply, "unavailableMetrics"))
    note(shell, `${textAt(missing, "metric")} needs ${textAt(missing, "missingCapability")} at the group.`);
  const [since] = shown.flatMap((each) => textAt(each, "partialSince") || []);
  if (since !== undefined) note(shell, `Nothing was counted before ${since}.`);
}

function membersOf(reply: JsonObject, name: string): JsonObject[] {
  return (reply[name] as JsonObject[] | undefined) ?? [];
}
