// Registers the person of a sign-in and accepts what it offers, once the person has decided. All of it is one transaction.
import { isDeepStrictEqual } from "node:util";
import { rootOf } from "../../model/uid.ts";
import { dropInvite } from "../../services/auth/accept-invite.ts";
import { personOf, type Registered, register, requireRegistered } from "../../services/auth/registration.ts";
import { declineOrganization } from "../../services/iam/memberships/leave.ts";
import { admitPerson, isAdmitted } from "../../services/iam/provisioning/admission.ts";
import { accept } from "../../services/iam/users/membership.ts";
import { userUid } from "../../services/iam/users/user-uid.ts";
import type { Transaction } from "../../storage/engine/session.ts";
import type { LoginProvider } from "../login-provider.ts";
import { callbackPathOf, type SignInDeps } from "../sign-in.ts";
import { type Asked, type AskedPerson, findOffers, type Offer } from "./offers.ts";

/** The possible answers of the user. */
export const answers = ["join", "not_now", "decline"] as const;

/** The decision of a person about the offers that a page has shown. */
export interface Decision {
  readonly answer: (typeof answers)[number];
  readonly offers: readonly Offer[];
}

/** The continuation of a sign-in: with tokens, with a question, or not at all because it was for an organization that was not joined. */
export type Settled =
  | ({ readonly state: "settled" } & Registered)
  | { readonly state: "undecided"; readonly offers: readonly Offer[] }
  | { readonly state: "over" };

/** A sign-in that goes on with tokens. */
export type SettledSignIn = Extract<Settled, { state: "settled" }>;

/** Settles a sign-in. Changes nothing if there are offers other than those of the decision. */
export async function settle(deps: SignInDeps, asked: Asked, decision: Decision | undefined): Promise<Settled> {
  const person = personOf(asked.claims);
  const context = {
    actor: userUid(person.issuer, person.subject),
    actorClaims: person.claims.act,
    method: callbackPathOf(asked.provider.uid),
    requestId: "",
    time: deps.clock(),
  };
  const vouches = (groupUid: string) => vouchesFor(deps, asked.provider, groupUid);
  return await deps.database.write(context, (tx) => settleIn(tx, { ...asked, person, vouches }, decision));
}

async function settleIn(tx: Transaction, asked: AskedPerson, decision: Decision | undefined): Promise<Settled> {
  const { request, provider, claims, person, vouches } = asked;
  if (request.skipsRegistration) await requireRegistered(tx, person);
  const ofProvider = { providerUid: provider.uid, claims };
  if (provider.organization) await isAdmitted(tx, ofProvider);
  const offers = await findOffers(tx, asked);
  if (offers.length > 0 && !isDeepStrictEqual(decision?.offers, offers)) return { state: "undecided", offers };
  const joins = decision?.answer === "join";
  if (decision?.answer === "decline") await decline(tx, asked, offers);
  // Tokens for an organization that was not joined would be of no use, or join it by their first call.
  if (!joins && offers.some(({ source, isJoined }) => source !== "invite" && !isJoined)) return { state: "over" };
  if (provider.organization) await admitPerson(tx, ofProvider);
  const isOffered = (source: Offer["source"]) => offers.some((offer) => offer.source === source);
  const registered = await register(tx, {
    person,
    vouches,
    invite: joins && isOffered("invite") ? request.invite : "",
    ...(provider.organization &&
      (joins || !isOffered("provider")) && { provider: { uid: provider.uid, ...provider.organization } }),
  });
  for (const { source, organization } of offers)
    if (joins && source === "scope") await accept(tx, registered.uid, organization);
  return { state: "settled", ...registered };
}

/** Deletes what offers the organizations: role bindings, and an invite that is for one person. */
async function decline(tx: Transaction, { person, request, vouches }: AskedPerson, offers: readonly Offer[]) {
  const identityUid = userUid(person.issuer, person.subject);
  for (const { source, organization, isJoined } of offers) {
    if (!isJoined) await declineOrganization(tx, { identityUid, groupUid: organization });
    if (source === "invite") await dropInvite(tx, request.invite, person, vouches, isJoined);
  }
}

/** An organization's provider may claim any email address, but only for its own organization (security case X11). */
function vouchesFor(deps: SignInDeps, { uid, issuer }: LoginProvider, groupUid: string): boolean {
  return uid === "" || rootOf(uid) === rootOf(groupUid) || deps.trustedEmailIssuers.includes(issuer);
}
