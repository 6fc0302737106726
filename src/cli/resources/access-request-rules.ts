// Rules of access requests: who may request which roles, and who approves.
import { created, description, lasting, name, uid } from "./columns.ts";
import { describing, named, renaming } from "./common-flags.ts";
import { duration, list } from "./flags.ts";
import { identities } from "./identities.ts";
import { findUid } from "./lookup.ts";
import { namesOf } from "./names.ts";
import type { Flag, Resource } from "./resource.ts";
import { roles } from "./roles.ts";

export const accessRequestRules: Resource = {
  path: "iam access-request-rules",
  noun: "rule of access requests",
  type: "AccessRequestRule",
  service: async () =>
    (await import("../../../gen/gatehouse/access/v1/access_request_rules_pb.ts")).AccessRequestRulesService,
  verbs: ["list", "describe", "create", "update", "delete"],
  view: {
    noun: "rules of access requests",
    columns: [
      name,
      uid,
      description,
      lasting("for at most", "maxDuration"),
      lasting("decision time", "decisionTime", { wide: true }),
      {
        title: "approvals",
        value: ({ requiredApprovals }) => String(requiredApprovals ?? 0),
        member: "requiredApprovals",
      },
      {
        title: "break glass",
        value: ({ breakGlass }) => (breakGlass === true ? "yes" : "no"),
        member: "breakGlass",
        wide: true,
      },
      { title: "reason", value: "reasonPattern", wide: true },
      created,
    ],
  },
  argument: { name: "name", field: "name" },
  parent: "group",
  fields: [
    describing,
    renaming,
    several("--roles <names|uids>", "roles that can be requested", "roleUids", () => roles),
    several("--eligible-roles <names|uids>", "who holds one of these may request", "eligibleRoleUids", () => roles),
    several("--eligible <names|uids>", "these may request", "eligibleIdentityUids", () => identities),
    several("--approver-roles <names|uids>", "who holds one of these may approve", "approverRoleUids", () => roles),
    several("--approvers <names|uids>", "these may approve", "approverIdentityUids", () => identities),
    {
      flags: "--approvals <number>",
      description: "how many must approve (default: 1); with 0, a role is given at once",
      field: "requiredApprovals",
      read: Number,
    },
    {
      flags: "--max-duration <duration>",
      description: "longest time of a role: 30m, 8h (default: 8h)",
      field: "maxDuration",
      read: duration,
    },
    {
      flags: "--decision-time <duration>",
      description: "how long a request waits (default: 24h)",
      field: "decisionTime",
      read: duration,
    },
    {
      flags: "--reason-pattern <regex>",
      description: 'what reasons must match, such as "INC-[0-9]+"',
      field: "reasonPattern",
    },
    {
      flags: "--break-glass",
      description: "in an emergency, people take roles at once; another person acknowledges that",
      field: "breakGlass",
    },
    { flags: "--no-break-glass", description: "roles need their approvals", field: "breakGlass", only: "update" },
  ],
  filters: [named],
};

/** Makes a flag for several resources of a kind. */
function several(flags: string, text: string, field: string, refersTo: () => Resource): Flag {
  return {
    flags,
    description: text,
    field,
    completer: (session, beginning) => namesOf(refersTo())(session, beginning),
    read: async (value, session) => {
      const uids: string[] = [];
      for (const each of list(value)) uids.push(await findUid(session, refersTo(), each));
      return uids;
    },
  };
}
