// The page that asks whether a person joins an organization, and the answers to it. A visit changes nothing.

import { invalidField, permissionDenied } from "../../aip/errors.ts";
import { clientOf } from "../../pipeline/observe.ts";
import type { Endpoint, EndpointRequest, EndpointResponse } from "../../transport/pages/endpoints.ts";
import type { PageReply } from "../../transport/pages/pages.ts";
import { type Attempt, failureReply } from "../error-page.ts";
import { goBack, markup, page } from "../html.ts";
import { signInLimits } from "../limits.ts";
import { requireSameClient } from "../login-state.ts";
import { bindingCookieLine, bindingCookieName, rowId } from "../sealed-row.ts";
import { isSecure, type SignInDeps } from "../sign-in.ts";
import { readStored, takeStored } from "../stored-rows.ts";
import { completeSignIn } from "./complete-sign-in.ts";
import { joinPage } from "./join-page.ts";
import type { Question } from "./question.ts";
import { answers, type Decision } from "./settle.ts";
import { languageFor } from "./texts.ts";

/** Creates the endpoint of the page. */
export function joinEndpoint(deps: SignInDeps): Endpoint {
  return {
    methods: ["GET", "HEAD", "POST"],
    maxBodyBytes: signInLimits.answerBytes,
    async handle(request) {
      const attempt: Attempt = { client: clientOf(request.call) };
      const handle = request.method === "POST" ? decide : ask;
      try {
        return responseOf(await handle(deps, request, attempt));
      } catch (error) {
        return responseOf(failureReply(deps, error, attempt));
      }
    },
    refuse: ({ message }, status) =>
      responseOf(page(status, "You are not signed in", markup`<p role="alert">${message}</p>\n${goBack}`)),
  };
}

async function ask(deps: SignInDeps, { call, query }: EndpointRequest): Promise<PageReply> {
  const state = textOf(query, "sign_in");
  const question = await readStored<Question>(deps, "join", state, call.header("cookie"));
  if (!question) throw notAsked();
  return joinPage({ ...question, state }, languageFor(call.header("accept-language")));
}

async function decide(deps: SignInDeps, request: EndpointRequest, attempt: Attempt): Promise<PageReply> {
  const { call } = request;
  requireOwnPage(deps, request);
  const form = request.form();
  const [state, answer] = [textOf(form, "sign_in"), answerOf(textOf(form, "answer"))];
  const question = await takeStored<Question>(deps, "join", state, call.header("cookie"));
  if (!question) throw notAsked();
  const { login, claims, offers } = question;
  attempt.target = login.request.target;
  const provider = await deps.providers.choose(login.provider);
  attempt.provider = provider;
  requireSameClient(login, provider);
  const { client } = attempt;
  return clearCookie(deps, state, await completeSignIn(deps, { login, provider, claims, client }, { answer, offers }));
}

/**
 * Throws if a page of another site sent the form, even with the right secret. Browsers state the origin of a form
 * (https://fetch.spec.whatwg.org/#origin-header). A browser without these headers runs no scripts that could send a
 * form.
 */
function requireOwnPage({ baseUrl }: SignInDeps, { call }: EndpointRequest): void {
  const origin = call.header("origin");
  const site = call.header("sec-fetch-site");
  const isOwn = origin === undefined || origin === new URL(baseUrl).origin;
  if (isOwn && (site === undefined || site === "same-origin")) return;
  throw permissionDenied("only the page of this server may answer its question", { check: "origin" });
}

function answerOf(text: string): Decision["answer"] {
  const answer = answers.find((one) => one === text);
  if (!answer) throw invalidField("answer", `must be one of ${answers.join(", ")}`);
  return answer;
}

/** Returns the value of a parameter; empty unless it is there exactly once. */
function textOf(parameters: EndpointRequest["query"], name: string): string {
  const [only, second] = parameters.filter(([key]) => key === name);
  return (second === undefined && only?.[1]) || "";
}

function notAsked() {
  const reasons = "it is answered already, took too long or was begun in another browser, or this one keeps no cookies";
  return invalidField("sign_in", `is not that of a question which this browser was asked: ${reasons}`);
}

function clearCookie(deps: SignInDeps, state: string, reply: PageReply): PageReply {
  const name = bindingCookieName("join", rowId("join", state), isSecure(deps));
  const cookie = bindingCookieLine({ name, value: "" }, 0, isSecure(deps));
  const others = [reply.headers?.["set-cookie"] ?? []].flat();
  return { ...reply, headers: { ...reply.headers, "set-cookie": [cookie, ...others] } };
}

function responseOf({ status, contentType, text, headers }: PageReply): EndpointResponse {
  return { status, headers: { "content-type": contentType, ...headers }, body: text };
}
