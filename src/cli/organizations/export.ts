// `gatehouse iam organizations export`: reads an organization through the lists of the API, with the permissions of the caller.
import { once } from "node:events";
import type { DescMethod, JsonObject, JsonValue } from "@bufbuild/protobuf";
import { GroupsService } from "../../../gen/chainguard/platform/iam/v2beta1/groups_pb.ts";
import { ReposService } from "../../../gen/chainguard/platform/registry/v2beta1/repos_pb.ts";
import { AccessService } from "../../../gen/gatehouse/access/v1/access_pb.ts";
import { DeliveryService } from "../../../gen/gatehouse/events/v1/delivery_pb.ts";
import { WorkloadTrustService } from "../../../gen/gatehouse/iam/v1/workload_trust_pb.ts";
import { OrganizationExportService } from "../../../gen/gatehouse/organizations/v1/organizations_pb.ts";
import { accessRuleOf } from "../../authz/rules.ts";
import { capabilityNames, capabilitySet } from "../../model/capabilities.ts";
import { writeWhole } from "../advisories/whole-file.ts";
import { openProgress, type Progress } from "../client/progress.ts";
import type { Session } from "../client/session.ts";
import { jsonText } from "../escape.ts";
import { CommandFailure } from "../failure.ts";
import { termsIn } from "../resources/binding-terms.ts";
import { textAt } from "../resources/json.ts";
import { note } from "../shell.ts";
import { countedText, type End, formatVersion, type Header, type Kind, leftOut, lineOf } from "./format.ts";
import { changesSince, logPosition } from "./interim-changes.ts";
import { type ResourceList, resourceLists } from "./resource-lists.ts";
import { openSboms, sbomKind, sbomMethods, type UploadedSboms } from "./sboms.ts";
import { openSecrets, type Secrets } from "./secrets.ts";

const pageSize = 200;

/** How many readmes or pins are read at once: each takes a call. */
const readsAtOnce = 8;

/** The options of an export. */
interface ExportOptions {
  /** The file to write; standard output if undefined. */
  readonly file: string | undefined;
  /** The file with the public key that client secrets are encrypted for; they are left out if undefined. */
  readonly recipient: string | undefined;
  /** Whether to export uploaded SBOMs. */
  readonly withSboms: boolean;
}

/** Exports an organization to a file, or to standard output if there is none. */
export async function exportOrganization(
  session: Session,
  uid: string,
  { file, recipient, withSboms }: ExportOptions,
): Promise<void> {
  const { shell } = session;
  const secrets = await openSecrets(session, recipient);
  await requireWholeView(session, uid, withSboms ? sbomMethods : []);
  const sboms = withSboms ? openSboms(session) : undefined;
  const position = await logPosition(session, uid);
  const counts: Partial<Record<Kind, number>> = {};
  {
    using progress = await openProgress(shell, "exporting", 0);
    const lines = linesOf(session, uid, { counts, progress, secrets, sboms });
    if (file !== undefined) await writeWhole(file, lines);
    else for await (const line of lines) if (!shell.stdout.write(line)) await once(shell.stdout, "drain");
  }
  note(shell, `exported: ${countedText(counts)}`);
  note(shell, "left out:");
  for (const each of leftOutBy({ secrets, sboms })) note(shell, `  ${each}`);
  const changed = await changesSince(session, uid, position, withSboms ? [sbomKind] : []);
  if (changed !== "") note(shell, changed);
}

/** The running export: counts by kind, progress, the encryption of secrets, and SBOMs if they are exported. */
interface Work {
  readonly counts: Partial<Record<Kind, number>>;
  readonly progress: Progress;
  readonly secrets: Secrets;
  readonly sboms: UploadedSboms | undefined;
}

function leftOutBy({ secrets, sboms }: Pick<Work, "secrets" | "sboms">): string[] {
  return [...secrets.missing, ...(sboms?.missing ?? []), ...leftOut];
}

async function* linesOf(session: Session, uid: string, work: Work): AsyncGenerator<string> {
  const { counts, progress } = work;
  const { name = "" } = await session.call(GroupsService.method.getGroup, { uid });
  const header: Header = {
    gatehouseOrganization: formatVersion,
    organization: uid,
    name: String(name),
    source: session.url,
    time: new Date().toISOString(),
  };
  yield lineOf(header);
  const count = (kind: Kind) => {
    counts[kind] = (counts[kind] ?? 0) + 1;
    progress.advance();
  };
  let total = 0;
  // Imported without their terms, they would last.
  const timed = new Set<string>();
  for await (const term of termsIn(session, { uidp: { descendantsOf: uid } })) timed.add(textAt(term, "uid"));
  for (const list of await resourceLists()) {
    for await (const { rows, more } of pagesOf(session, list, uid)) {
      total += more;
      progress.total(total);
      const lasting = list.kind === "roleBinding" ? rows.filter((row) => !timed.has(textAt(row, "uid"))) : rows;
      yield* linesOfPage(session, list, lasting, work, count);
    }
  }
  const end: End = { end: { counts, leftOut: leftOutBy(work) } };
  yield lineOf(end);
}

async function* linesOfPage(
  session: Session,
  { kind, toImported = (row) => row }: ResourceList,
  rows: readonly JsonObject[],
  { secrets, sboms }: Work,
  count: (kind: Kind) => void,
): AsyncGenerator<string> {
  for (const row of rows) {
    const imported = await toImported(row);
    if (!imported) continue;
    count(kind);
    yield lineOf({ [kind]: imported, ...(kind === "identityProvider" && (await secrets.of(imported))) });
  }
  if (kind === "identityProvider") {
    for (const { uid } of rows)
      for await (const identityUids of suspendedPeopleOf(session, uid!)) {
        count("suspendedPeople");
        yield lineOf({ suspendedPeople: { uid: uid!, identityUids } });
      }
  }
  if (kind === "identity")
    for (const trust of await trustOf(session, rows)) {
      count("identityTrust");
      yield lineOf({ identityTrust: trust });
    }
  if (kind === "subscription")
    for (const settings of await settingsOf(session, rows)) {
      count("subscriptionSettings");
      yield lineOf({ subscriptionSettings: settings });
    }
  if (kind === "tag" && sboms)
    for await (const sbom of sboms.of(rows)) {
      count("uploadedSbom");
      yield lineOf({ uploadedSbom: sbom });
    }
  if (kind !== "repo") return;
  for (const readme of await readmesOf(session, rows)) {
    count("repoReadme");
    yield lineOf({ repoReadme: readme });
  }
}

/** Yields the pages of a list, each with how many more resources are known of since the page before. */
async function* pagesOf(session: Session, { method, field, request }: ResourceList, uid: string) {
  // The organization itself and resources with its uid are not among its descendants.
  for (const uidp of [{ ids: [uid] }, { descendantsOf: uid }]) {
    let pageToken = "";
    do {
      const page: JsonObject = { ...request, uidp, pageSize, ...(pageToken !== "" && { pageToken }) };
      const response = await session.call(method, page);
      const rows = (response[field] as JsonObject[] | undefined) ?? [];
      yield { rows, more: pageToken === "" ? Number(response.totalCount ?? rows.length) : 0 };
      pageToken = textAt(response, "nextPageToken");
    } while (pageToken !== "");
  }
}

/** Yields the uids of the people whom an identity provider has deactivated, page by page. */
async function* suspendedPeopleOf(session: Session, parent: JsonValue): AsyncGenerator<JsonValue[]> {
  const method = OrganizationExportService.method.listSuspendedPeople;
  let pageToken = "";
  do {
    const response = await session.call(method, { parent, pageSize, pageToken });
    const uids = (response.identityUids as JsonValue[] | undefined) ?? [];
    if (uids.length > 0) yield uids;
    pageToken = textAt(response, "nextPageToken");
  } while (pageToken !== "");
}

/** Returns the settings of subscriptions, without those that were never set. */
async function settingsOf(session: Session, subscriptions: readonly JsonObject[]): Promise<JsonObject[]> {
  if (subscriptions.length === 0) return [];
  const uidp = { ids: subscriptions.map(({ uid }) => uid!) };
  const response = await session.call(DeliveryService.method.listDeliveryStates, { uidp, pageSize });
  const states = (response.deliveryStates as { readonly settings: JsonObject }[] | undefined) ?? [];
  return states
    .map(({ settings }) => settings)
    .filter((one) => one.paused === true || textAt(one, "description") !== "" || ((one.kinds ?? []) as []).length > 0);
}

/** Returns the pins of workloads, without those of identities that have neither pins nor a policy of their own. */
async function trustOf(session: Session, identities: readonly JsonObject[]): Promise<JsonObject[]> {
  const workloads = identities.filter((identity) => identity.claimMatch || identity.awsIdentity);
  const found = await readEach(workloads, ({ uid }) =>
    session.call(WorkloadTrustService.method.getTrust, { identity: uid! }),
  );
  return found
    .map(({ identity, namePolicy, pinnedNames }) => ({
      uid: identity!,
      ...(namePolicy !== undefined && namePolicy !== "NAME_POLICY_UNSPECIFIED" && { namePolicy }),
      ...(((pinnedNames ?? []) as []).length > 0 && { pinnedNames: pinnedNames! }),
    }))
    .filter((trust) => Object.keys(trust).length > 1);
}

/** Returns the readmes of repos, without those that are empty. */
async function readmesOf(session: Session, repos: readonly JsonObject[]): Promise<JsonObject[]> {
  const found = await readEach(repos, ({ uid }) => session.call(ReposService.method.getRepoReadme, { uid: uid! }));
  return found.filter((readme) => textAt(readme, "content") !== "");
}

/** Reads something for each resource, a few at once. */
async function readEach(
  resources: readonly JsonObject[],
  read: (resource: JsonObject) => Promise<JsonObject>,
): Promise<JsonObject[]> {
  const found: JsonObject[] = [];
  for (let i = 0; i < resources.length; i += readsAtOnce)
    found.push(...(await Promise.all(resources.slice(i, i + readsAtOnce).map(read))));
  return found;
}

/** A list shows only what the caller may see. Fails unless that is everything in the organization. */
async function requireWholeView(session: Session, group: string, further: readonly DescMethod[]): Promise<void> {
  const methods: readonly DescMethod[] = [
    ...(await resourceLists()).map(({ method }) => method),
    ReposService.method.getRepoReadme,
    OrganizationExportService.method.listSuspendedPeople,
    DeliveryService.method.listDeliveryStates,
    WorkloadTrustService.method.getTrust,
    ...further,
  ];
  const wanted = [...new Set(methods.flatMap(capabilitiesOf))];
  const missing: string[] = [];
  for (const capability of wanted) {
    const { granted } = await session.call(AccessService.method.explainAccess, { group, capability });
    if (granted !== true) missing.push(capability);
  }
  if (missing.length === 0) return;
  throw new CommandFailure(`the export would be incomplete: you lack ${missing.join(", ")} at ${jsonText(group)}`, {
    hint: "The roles owner and viewer of an organization have what an export needs.",
  });
}

function capabilitiesOf(method: DescMethod): string[] {
  const rule = accessRuleOf(method);
  return !rule || rule.type === "open" ? [] : capabilityNames(capabilitySet(rule.capabilities));
}
