// Finds the statements about images, which override what advisories say about the packages of these images.
import {
  decidingStatement,
  type ImageStatement,
  imageKeyOf,
  imageStatementsOf,
  isAboutPart,
} from "../../../advisories/image-statements.ts";
import { addressOf } from "../../../advisories/queries/package.ts";
import { ancestorsOf, parentOf } from "../../../model/uid.ts";
import type { ServiceSettings } from "../../../resource/service-context.ts";
import { findRow } from "../../../storage/collection/rows.ts";
import type { Session } from "../../../storage/engine/session.ts";
import { findParents, type ImageRow } from "../../../storage/images/images.ts";
import type { SideIndex } from "../../../storage/list/condition.ts";
import { listRows, type Source } from "../../../storage/list/list-rows.ts";
import { repoCollection } from "../../../storage/registry/rows.ts";
import { termIndex } from "../../../storage/vulnerabilities/advisory-terms.ts";
import { type AdvisoryRow, advisoryCollection } from "../../../storage/vulnerabilities/rows.ts";
import { readStatements } from "../../vulnerabilities/records/advisory-statements.ts";
import { registryNamesOf } from "../repos/registry-names.ts";
import { contentLimits } from "./limits.ts";

/** The settings by which repositories are named. */
export type NameSettings = Pick<ServiceSettings, "registryService" | "registryGroup" | "maxDepth">;

/** An image that statements may be about. */
export type NamedImage = Pick<ImageRow, "no" | "repoUid" | "digest" | "architecture">;

/** A finding that statements may be about. */
export interface StatedFinding {
  readonly advisoryId: string;
  readonly aliases: readonly string[];
  readonly vulnerability: string;
  readonly purl: string;
}

/** Returns the statements about images of a repo: those of the advisories that apply to it. */
export async function statementsOfRepo(session: Session, repoUid: string): Promise<ImageStatement[]> {
  const repo = await findRow(session, repoCollection, repoUid);
  if (!repo) return [];
  const sources = ancestorsOf(repoUid).map((uid) => ({ type: "children", uid }) as const);
  return await readImageStatements(session, sources, [termIndex("products", [imageKeyOf(lastNameOf(repo))])]);
}

/** Returns the ids of the vulnerabilities of advisories in an organization. */
export async function vulnerabilityIdsOf(
  session: Session,
  organization: string,
  advisoryUids: readonly string[],
): Promise<string[]> {
  const sources = [{ type: "subtree", uid: organization } as const];
  const found = { name: "found", uids: advisoryUids.toSorted() } as const;
  const advisories = await listAdvisories(session, sources, found, {});
  return [...new Set(advisories.flatMap(({ name, aliases }) => [name, ...aliases]))];
}

/** Returns the statements of an organization about vulnerabilities with one of these ids, in images of any repo. */
export async function statementsOn(
  session: Session,
  organization: string,
  ids: readonly string[],
): Promise<ImageStatement[]> {
  if (ids.length === 0) return [];
  const sources = [{ type: "subtree", uid: organization } as const];
  return await readImageStatements(session, sources, [termIndex("aliases", ids), termIndex("advisoryIds", ids)]);
}

async function readImageStatements(
  session: Session,
  sources: readonly Source[],
  indexes: readonly SideIndex[],
): Promise<ImageStatement[]> {
  const rows = new Map<string, AdvisoryRow>();
  for (const index of indexes)
    for (const row of await listAdvisories(session, sources, index, { artifactType: "image" })) rows.set(row.uid, row);
  const list = [...rows.values()];
  if (list.length === 0) return [];
  const read = await readStatements(session, list);
  return read.flatMap((statements, i) => imageStatementsOf(statements, parentOf(list[i]!.uid)));
}

async function listAdvisories(
  session: Session,
  sources: readonly Source[],
  index: SideIndex | { readonly name: "found"; readonly uids: readonly string[] },
  filters: Readonly<Record<string, string>>,
): Promise<AdvisoryRow[]> {
  return await listRows(session, advisoryCollection, {
    sources,
    filters,
    plans: sources.map(() => ({ index })),
    after: undefined,
    skip: 0,
    limit: contentLimits.namedAdvisories,
    order: { field: "uid", descending: false },
  });
}

/** Returns the last component of the name of a repo. */
function lastNameOf({ name }: { readonly name: string }): string {
  return name.slice(name.lastIndexOf("/") + 1).toLowerCase();
}

/** Finds the statement that counts for a finding of an image. */
export interface Overrides {
  of(image: NamedImage, finding: StatedFinding): Promise<ImageStatement | undefined>;
}

/** Returns how statements override findings. Each image is looked at once. */
export function newOverrides(
  session: Session,
  statements: readonly ImageStatement[],
  settings: NameSettings,
): Overrides {
  const ofImages = new Map<number, Promise<ImageStatement[]>>();

  async function aboutImage(image: NamedImage): Promise<ImageStatement[]> {
    const repo = await findRow(session, repoCollection, image.repoUid);
    if (!repo) return [];
    const [name, groups] = [lastNameOf(repo), ancestorsOf(image.repoUid)];
    const found: ImageStatement[] = [];
    for (const statement of statements)
      if (statement.name === name && groups.includes(statement.groupUid))
        if (await isAboutImage(session, statement, image, settings)) found.push(statement);
    return found;
  }

  return {
    async of(image, finding) {
      if (statements.length === 0) return undefined;
      const known = ofImages.get(image.no) ?? aboutImage(image);
      ofImages.set(image.no, known);
      const ids = [finding.vulnerability, finding.advisoryId, ...finding.aliases];
      const said = (await known).filter(
        (statement) => ids.some((id) => statement.vulnerabilities.has(id)) && isAboutPart(statement, finding.purl),
      );
      return decidingStatement(said);
    },
  };
}

/** Whether a statement about images of this name is about one of them: address and digest agree as far as it names them. */
async function isAboutImage(
  session: Session,
  { repositoryUrl, digest, architecture }: ImageStatement,
  image: NamedImage,
  settings: NameSettings,
): Promise<boolean> {
  if (architecture !== "" && image.architecture !== "" && architecture !== image.architecture) return false;
  if (digest !== "" && digest !== image.digest) {
    const parents = await findParents(session, image.no);
    if (!parents.some((parent) => parent.digest === digest)) return false;
  }
  if (repositoryUrl === "") return true;
  const names = await registryNamesOf(session, image.repoUid, settings);
  return names.some((each) => addressOf(`${settings.registryService}/${each}`) === addressOf(repositoryUrl));
}
