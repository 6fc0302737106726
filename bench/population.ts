// The rows of a generated installation: one organization, teams in it, groups, identities and role bindings in the teams.
import { RelationshipType } from "../gen/chainguard/platform/iam/v2beta1/identities_pb.ts";
import { builtInRoles, operatorRole, ownerRole } from "../src/authz/built-in-roles.ts";
import { newUserRow } from "../src/services/iam/users/user-row.ts";
import type { Collection, ResourceRow } from "../src/storage/collection/collection.ts";
import { groupCollection, identityCollection, roleBindingCollection } from "../src/storage/iam/collections.ts";
import type { GroupRow, IdentityRow, RoleBindingRow } from "../src/storage/iam/rows.ts";
import { newRandom, type Random } from "./random.ts";

/** The size of the population below the organization, and the seed that makes it repeatable. */
export interface PopulationOptions {
  /** Groups below the organization, from 100 on; identities and bindings are a tenth of it each. */
  readonly groups: number;
  readonly seed: string;
  /** People who have joined the organization, with one role there each; none without it. */
  readonly people?: number;
}

/** A row together with the collection that it belongs to. */
export interface PlacedRow {
  readonly collection: Collection<never>;
  readonly row: ResourceRow;
}

/** Uids of resources that every generated population has, as targets of the measured calls. */
export interface Landmarks {
  readonly groups: number;
  readonly groupUid: string;
  readonly ownerUid: string;
  /** A team of `teamSize` groups. */
  readonly teamUid: string;
  readonly teamSize: number;
  /** The group in which the benchmark creates groups: empty in the beginning. */
  readonly emptyUid: string;
  /** The lowest of a chain of groups, at depth 8. */
  readonly deepUid: string;
  /** Groups picked at random, to be read. */
  readonly sampleUids: readonly string[];
}

const depthOfChain = 8;
const samples = 1000;
/** Every creation is a step later than the one before: 1 January 2026 on, 7 seconds each. */
const start = Date.UTC(2026, 0, 1);
const step = 7000;
const words = ["amber", "birch", "cedar", "delta", "ember", "fjord", "grove", "haven", "islet", "juniper"] as const;

/** Returns the size of the teams in an installation of so many groups. */
function teamSizeOf(groups: number): number {
  return Math.min(1000, Math.floor(groups / 10));
}

/** Yields every row after those it refers to; answers the landmarks at the end. */
export function* populate({ groups, seed, people = 0 }: PopulationOptions): Generator<PlacedRow, Landmarks> {
  const random = newRandom(`${seed}:${groups}`);
  const maker = newMaker(random);
  const organization = maker.group(null, "example.org");
  yield place(groupCollection, organization);
  const owner = maker.identity(organization.uid, "owner");
  yield place(identityCollection, owner);
  for (const role of [ownerRole, operatorRole])
    yield place(roleBindingCollection, maker.binding(organization.uid, owner.uid, role.uid));
  const empty = maker.group(organization.uid, "created by the benchmark");
  yield place(groupCollection, empty);
  let deepest = organization;
  for (let depth = 2; depth <= depthOfChain; depth++) {
    deepest = maker.group(deepest.uid, `depth ${depth}`);
    yield place(groupCollection, deepest);
  }
  const members = yield* populateTeams(maker, random, organization.uid, groups - depthOfChain);
  yield* populatePeople(maker, newRandom(`${seed}:people:${people}`), organization.uid, people);
  return {
    groups,
    groupUid: organization.uid,
    ownerUid: owner.uid,
    ...members,
    emptyUid: empty.uid,
    deepUid: deepest.uid,
  };
}

/** Makes `count` groups: teams below the organization and their members. */
function* populateTeams(
  maker: Maker,
  random: Random,
  organizationUid: string,
  count: number,
): Generator<PlacedRow, Pick<Landmarks, "teamUid" | "teamSize" | "sampleUids">> {
  const teamSize = teamSizeOf(count);
  const sampleEvery = Math.max(1, Math.floor(count / samples));
  const sampleUids: string[] = [];
  let firstTeam: GroupRow | undefined;
  for (let made = 0; made < count; ) {
    const team = maker.group(organizationUid, `team ${random.pick(words)} ${made}`);
    firstTeam ??= team;
    yield place(groupCollection, team);
    for (const end = Math.min(count, ++made + teamSize); made < end; made++) {
      const group = maker.group(team.uid, `${random.pick(words)} ${random.hex(4)}`);
      yield place(groupCollection, group);
      if (made % sampleEvery === 0 && sampleUids.length < samples) sampleUids.push(group.uid);
      if (made % 10 === 0) yield* populateMember(maker, random, team.uid);
    }
  }
  return { teamUid: firstTeam!.uid, teamSize, sampleUids };
}

function* populateMember(maker: Maker, random: Random, teamUid: string): Generator<PlacedRow> {
  const identity = maker.identity(teamUid, `robot ${random.hex(4)}`);
  yield place(identityCollection, identity);
  yield place(roleBindingCollection, maker.binding(teamUid, identity.uid, random.pick(builtInRoles).uid));
}

/** Makes people with two words as their name, and a role at the organization. */
function* populatePeople(maker: Maker, random: Random, organizationUid: string, count: number): Generator<PlacedRow> {
  const viewer = builtInRoles.find(({ name }) => name === "viewer")!;
  for (let made = 0; made < count; made++) {
    const person = maker.person(`${random.pick(words)} ${random.pick(words)}son ${made}`, made);
    yield place(identityCollection, person);
    yield place(roleBindingCollection, maker.binding(organizationUid, person.uid, viewer.uid));
  }
}

function place<R extends ResourceRow>(collection: Collection<R>, row: R): PlacedRow {
  return { collection: collection as unknown as Collection<never>, row };
}

type Maker = ReturnType<typeof newMaker>;

function newMaker(random: Random) {
  let time = start;

  function stamps<P extends string | null>(parent: P) {
    time += step;
    const uid = parent === null ? random.hex(20) : `${parent}/${random.hex(8)}`;
    return { uid, parent, createTime: time };
  }

  return {
    group(parent: string | null, name: string): GroupRow {
      const stamped = stamps(parent);
      const description = `What ${name} needs to do its work`;
      const plain = { resourceLimits: {}, verified: false, kind: 0, status: 0 };
      return { ...stamped, ...plain, name, description, updateTime: stamped.createTime };
    },
    identity(parent: string, name: string): IdentityRow {
      const stamped = stamps(parent);
      const [issuer, subject] = ["https://issuer.example.org", name];
      return {
        ...stamped,
        name,
        description: "",
        email: "",
        emailUnverified: "",
        company: "",
        relationshipType: RelationshipType.CLAIM_MATCH,
        relationship: { case: "claimMatch", value: { issuer, subject } },
        issuer,
        subject,
        metadata: {},
        lastSeenTime: stamped.createTime,
        updateTime: stamped.createTime,
        trust: null,
      };
    },
    person: (name: string, number: number): IdentityRow => personOf(stamps(null), name, number),
    binding(parent: string, identityUid: string, roleUid: string): RoleBindingRow {
      return { ...stamps(parent), identityUid, roleUid, startTime: null, expireTime: null };
    },
  };
}

function personOf({ uid, createTime }: { uid: string; createTime: number }, name: string, number: number): IdentityRow {
  const [issuer, subject] = ["https://people.example.org", `person${number}`];
  return newUserRow(uid, createTime, { name, email: `${subject}@example.org`, emailUnverified: "", issuer, subject });
}
