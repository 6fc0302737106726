// `gatehouse apply` and `diff`: sends the resources of files in one request.

import { create, type JsonObject, toBinary, toJson } from "@bufbuild/protobuf";
import { GroupsService } from "../../../gen/chainguard/platform/iam/v2beta1/groups_pb.ts";
import {
  type ApplyResourcesRequest,
  ApplyResourcesRequestSchema,
  type ApplyResourcesResponse,
  ApplyResourcesResponseSchema,
  ApplyService,
  SpecKind,
} from "../../../gen/gatehouse/apply/v1/apply_pb.ts";
import { notOneOf } from "../../base/similar.ts";
import { confirm } from "../client/prompt.ts";
import type { Session } from "../client/session.ts";
import { CommandFailure, wrongUsage } from "../failure.ts";
import { readInput } from "../input.ts";
import { groups } from "../resources/groups.ts";
import { findUid } from "../resources/lookup.ts";
import { note, type Shell } from "../shell.ts";
import { documentKinds, type Located, type Reading, readDocuments } from "./documents.ts";
import { checkLeftOut, noteLeftOut } from "./left-out.ts";
import { hasChanges, planLines, summaryOf } from "./plan-text.ts";
import { findResourceFiles } from "./resource-files.ts";

/** The maximum size of a request. */
const maxRequestBytes = 4 * 1024 * 1024;

/** The flags of the commands. */
export interface ApplyOptions {
  readonly file: readonly string[];
  readonly group?: string;
  readonly prune?: boolean;
  readonly pruneKinds?: readonly string[];
  readonly setClientSecrets?: boolean;
  readonly dryRun?: boolean;
  readonly yes?: boolean;
}

/** Applies files, after a confirmation of the plan. */
export async function applyFiles(session: Session, options: ApplyOptions): Promise<void> {
  const { shell, output } = session;
  const work = await workOf(session, options);
  if (options.yes === true && options.dryRun !== true)
    return await print(session, await send(session, work, {}), appliedText);
  const plan = await send(session, work, { validateOnly: true });
  if (options.dryRun === true || !hasChanges(plan)) return await print(session, plan, planText);
  // As JSON, standard output has the result and nothing else.
  const { stdout, stderr } = shell;
  write(output.isPlain ? stdout : stderr, plan, planText);
  await confirm(shell, "Apply these changes?", undefined);
  const done = await send(session, work, { expectedPlan: plan.plan });
  if (output.isPlain) stdout.write(`${appliedText(done)}\n`);
  else await output.data(jsonOf(done));
}

/** Shows the difference between files and the server. Returns whether there is one. */
export async function compareFiles(session: Session, options: ApplyOptions): Promise<boolean> {
  const plan = await send(session, await workOf(session, options), { planOnly: true });
  await print(session, plan, planText);
  return hasChanges(plan);
}

interface Work {
  readonly request: ApplyResourcesRequest;
  readonly located: readonly Located[];
}

async function workOf(session: Session, options: ApplyOptions): Promise<Work> {
  const { file, prune, pruneKinds, setClientSecrets = false } = options;
  const prunes = prune === true || pruneKinds !== undefined;
  const located = await readResources(session.shell, file, prunes);
  if (located.length === 0) throw wrongUsage("the files have no resources");
  const request = create(ApplyResourcesRequestSchema, {
    groupUid: await groupUidOf(session, located, options.group),
    resources: located.map(({ resource }) => resource),
    prune: prunes,
    pruneKinds: (pruneKinds ?? []).map(kindNamed),
    setClientSecrets,
  });
  const size = toBinary(ApplyResourcesRequestSchema, request).length;
  if (size > maxRequestBytes)
    throw wrongUsage(
      `the resources have ${size} bytes, and a request at most ${maxRequestBytes}; apply some groups at a time`,
    );
  return { request, located };
}

function kindNamed(name: string): SpecKind {
  const kind = documentKinds.find((each) => each.toLowerCase() === name.toLowerCase());
  // The value of the kind RoleBinding is called ROLE_BINDING.
  const value = kind?.replaceAll(/(?<=.)(?=[A-Z])/g, "_").toUpperCase();
  if (value !== undefined) return SpecKind[value as keyof typeof SpecKind];
  throw wrongUsage(`--prune-kinds: ${notOneOf(name, documentKinds)}`);
}

/** Returns the uid of the group that the paths begin at; empty for an organization that does not exist. */
async function groupUidOf(session: Session, located: readonly Located[], group: string | undefined): Promise<string> {
  if (group !== undefined) return await findUid(session, groups, group);
  const [organization] = located.flatMap(({ resource: { resource } }) =>
    resource.case === "organization" ? [resource.value] : [],
  );
  if (!organization) {
    const configured = session.config["default.group"];
    if (configured !== undefined) return await findUid(session, groups, configured);
    throw wrongUsage(
      "the files do not say which organization they are for",
      "Add a document `kind: Organization` with its name, or name a group with --group.",
    );
  }
  const client = await session.client(GroupsService);
  const { groups: found } = await client.listGroups({ name: organization.name, uidp: { inRoot: true }, pageSize: 10 });
  const named = found.filter(({ uid, name }) => !uid.includes("/") && name === organization.name);
  if (named.length <= 1) return named[0]?.uid ?? "";
  throw new CommandFailure(
    `several organizations are called ${JSON.stringify(organization.name)}; name one with --group`,
    { hint: named.map(({ uid }) => uid).join("\n") },
  );
}

type How = Partial<Pick<ApplyResourcesRequest, "validateOnly" | "planOnly" | "expectedPlan">>;

async function send(session: Session, { request, located }: Work, how: How): Promise<ApplyResourcesResponse> {
  const client = await session.client(ApplyService);
  try {
    return await client.applyResources({ ...request, ...how });
  } catch (error) {
    throw error instanceof CommandFailure ? withPlaces(error, located) : error;
  }
}

/** The server counts resources; people know files and lines. */
function withPlaces(failure: CommandFailure, located: readonly Located[]): CommandFailure {
  const replaced = (text: string) =>
    text.replaceAll(/resources\[(\d+)\](\.|: )?/g, (found, index, next = "") => {
      const place = located[Number(index)]?.place;
      return place === undefined ? found : `${place}${next && ": "}`;
    });
  return failure.with({ message: replaced(failure.message), hint: replaced(failure.hint) });
}

type Summary = (response: ApplyResourcesResponse) => string;

const appliedText: Summary = (done) => summaryOf(done, true);
const planText: Summary = (plan) =>
  hasChanges(plan) ? summaryOf(plan, false) : "No changes: the organization is as in the files.";

async function print({ shell, output }: Session, response: ApplyResourcesResponse, summary: Summary): Promise<void> {
  if (output.isPlain) write(shell.stdout, response, summary);
  else await output.data(jsonOf(response));
}

function write(stream: NodeJS.WriteStream, response: ApplyResourcesResponse, summary: Summary): void {
  for (const line of planLines(response, stream)) stream.write(`${line}\n`);
  stream.write(`${summary(response)}\n`);
}

function jsonOf(response: ApplyResourcesResponse): JsonObject {
  return toJson(ApplyResourcesResponseSchema, response) as JsonObject;
}

/** The maximum size of all files: a request has at most 4 MiB, and YAML is longer than that. */
const maxCharacters = 64 * 1024 * 1024;

/**
 * Reads the resources of files, of directories with everything below, and of standard input for `-`. Entries of directories that are
 * left out are named on standard error; with `prune` they must not have resources.
 */
async function readResources(shell: Shell, paths: readonly string[], prune: boolean): Promise<Located[]> {
  const reading: Reading = {
    environment: shell.environment,
    onMissingVariable: (variable, place) =>
      note(shell, `${place}: ${variable} is not set: a stored client secret stays, a new identity provider gets none`),
  };
  const found = findResourceFiles(paths);
  noteLeftOut(shell, found);
  if (prune) checkLeftOut(found);
  const resources: Located[] = [];
  let size = 0;
  for (const name of found.files) {
    const content = await readInput(shell, name);
    size += content.length;
    if (size > maxCharacters) throw wrongUsage(`the files have more than ${maxCharacters / 1024 / 1024} Mi characters`);
    resources.push(...readDocuments(content, name === "-" ? "standard input" : name, reading));
  }
  return resources;
}
