// Renders the page that asks whether a person joins an organization.
import { personOf } from "../../services/auth/registration.ts";
import type { Claims } from "../../sts/claim-match.ts";
import type { PageReply } from "../../transport/pages/pages.ts";
import { type Markup, markup, page } from "../html.ts";
import type { LoginRequest } from "../login-request.ts";
import { userCodeOf } from "../user-code.ts";
import type { Offer } from "./offers.ts";
import { joinPath, type Question } from "./question.ts";
import { type Language, type Texts, texts } from "./texts.ts";

/** The question of a sign-in, and the secret of its form. */
export interface AskedQuestion extends Question {
  readonly state: string;
}

/** Creates the page. */
export function joinPage({ state, login, claims, offers }: AskedQuestion, language: Language): PageReply {
  const words = texts[language];
  const body = markup`${offers.map((offer) => offerSection(offer, login.request, claims, words))}
<p>${words.account}: <strong>${accountOf(claims)}</strong>. ${words.sees}</p>
<p>${words.caution}</p>
<form method="post" action="${joinPath}" class="answers">
<input type="hidden" name="sign_in" value="${state}">
<button name="answer" value="join">${words.join}</button>
<button name="answer" value="not_now" class="quiet">${words.notNow}</button>
<button name="answer" value="decline" class="quiet">${words.decline}</button>
</form>
<p>${words.notNowMeans}<br>
${words.declineMeans}</p>`;
  return withForm(page(200, words.title, body, language), login.request.target);
}

function offerSection(offer: Offer, { target }: LoginRequest, claims: Claims, words: Texts): Markup {
  const { source, name, organization, group, roles, hasCustomRoles, maker } = offer;
  const unnamed = markup`${words.unverified} <code>${organization}</code>`;
  const rows: [string, Markup][] = [
    [words.organization, name === "" ? unnamed : markup`<strong>${name}</strong>`],
    [words.group, markup`${group}`],
    [words.role, markup`${[...roles, ...(hasCustomRoles ? [words.customRole] : [])].join(", ")}`],
    [words.maker, markup`${maker}`],
    [words.provider, markup`${source === "provider" ? String(claims.iss) : ""}`],
    [words.asker, markup`${askerOf(target, words)}`],
  ];
  const shown = rows.filter(([, value]) => value.markup !== "");
  return markup`<section><p>${words.lead(offer)}</p>
<dl>${shown.map(([term, value]) => markup`<dt>${term}</dt><dd>${value}</dd>`)}</dl></section>`;
}

function askerOf(target: LoginRequest["target"], words: Texts): string {
  if ("redirect" in target) return words.program(new URL(target.redirect).host);
  return "headlessCode" in target ? words.device(userCodeOf(target.headlessCode)) : words.console;
}

function accountOf(claims: Claims): string {
  const { name, subject, claims: inherited } = personOf(claims);
  const { email } = inherited;
  if (email === undefined) return name || subject;
  return name === "" ? email : `${name} (${email})`;
}

/**
 * Allows the form of a page. Browsers apply the policy also to the address that the answer redirects to, and send the origin of a page
 * only if its referrer policy lets them.
 */
function withForm(reply: PageReply, target: LoginRequest["target"]): PageReply {
  const redirect = "redirect" in target ? new URL(target.redirect) : undefined;
  // Content Security Policy 3 §2.3.1: a source expression cannot name an IPv6 address.
  const source = redirect && (redirect.hostname.startsWith("[") ? "http:" : redirect.origin);
  const policy = `${reply.headers?.["content-security-policy"]}; form-action 'self'${source ? ` ${source}` : ""}`;
  return {
    ...reply,
    headers: { ...reply.headers, "content-security-policy": policy, "referrer-policy": "same-origin" },
  };
}
