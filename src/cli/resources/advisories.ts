import type { JsonObject } from "@bufbuild/protobuf";
import { updated } from "./columns.ts";
import { constant, list } from "./flags.ts";
import type { Resource } from "./resource.ts";

export const advisories: Resource = {
  path: "advisories",
  noun: "advisory",
  type: "Advisory",
  service: async () =>
    (await import("../../../gen/chainguard/platform/vulnerabilities/v2beta1/advisories_pb.ts")).AdvisoriesService,
  verbs: ["list", "describe"],
  view: {
    noun: "advisories",
    columns: [
      { title: "id", value: "advisoryId" },
      { title: "package", value: "artifactName" },
      { title: "aliases", value: "aliases" },
      { title: "status", value: latestEvent },
      { title: "component", value: "componentName", wide: true },
      { title: "uid", value: "uid", wide: true },
      updated,
    ],
  },
  parent: "none",
  fields: [],
  name: { member: "advisoryId", filter: "advisoryIds", aliases: "aliases" },
  filters: [
    { flags: "--package <names>", description: "only those of these packages", field: "artifactNames", read: list },
    {
      flags: "--alias <ids>",
      description: "only those with one of these aliases, such as CVE-2030-1000001",
      field: "aliases",
      read: list,
    },
    {
      flags: "--component-type <types>",
      description: "only those of these component types",
      field: "componentTypes",
      read: list,
    },
    {
      flags: "--status <event>",
      description: "only those whose latest event is this",
      choices: [
        "detection",
        "true-positive-determination",
        "fixed",
        "false-positive-determination",
        "analysis-not-planned",
        "fix-not-planned",
        "pending-upstream-fix",
        "patched",
      ],
      field: "latestEventType",
      read: constant("EVENT_TYPE_FILTER_"),
    },
    { flags: "--search <text>", description: "only those that contain this text", field: "query" },
  ],
};

/** Returns the kind of the last approved event by the name of its member: `false-positive-determination`. */
function latestEvent({ events }: JsonObject): string {
  // The server sorts events; times of different precision cannot be compared as texts.
  const latest = ((events ?? []) as JsonObject[]).findLast((event) => event.reviewState === "REVIEW_STATE_APPROVED");
  return eventKind(latest ?? {});
}

/** Returns the kind of an event by the name of its member. */
export function eventKind(event: JsonObject): string {
  const kind = Object.keys(event).find((member) => kinds.includes(member)) ?? "";
  return kind.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
}

const kinds = [
  "detection",
  "fixed",
  "falsePositiveDetermination",
  "analysisNotPlanned",
  "fixNotPlanned",
  "pendingUpstreamFix",
  "truePositiveDetermination",
  "patched",
];
