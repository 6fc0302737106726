// The control API of an emulator: tenants, faults, tokens of issuers and the clock, for tests of programs.
import { hash, timingSafeEqual } from "node:crypto";
import { type ApiError, invalidField, notFound, unauthenticated } from "../../aip/errors.ts";
import { requireBearer } from "../../authn/bearer.ts";
import { systemClock } from "../../base/clock.ts";
import { didYouMean } from "../../base/similar.ts";
import type { Call } from "../../pipeline/call.ts";
import type { MethodTable } from "../../pipeline/method.ts";
import { nameRule, problemOf } from "../../pipeline/text-rules.ts";
import { detailTypes } from "../../transport/error-detail-types.ts";
import type { Endpoint, EndpointRequest, Endpoints } from "../../transport/pages/endpoints.ts";
import { newErrorResponses } from "../../transport/rest/rest-response.ts";
import type { MovableClock } from "./clock.ts";
import { type Fault, type Faults, faultEffects } from "./faults.ts";
import { type EmulatedIssuers, issuersPath } from "./issuers.ts";
import { emulatorLimits } from "./limits.ts";
import { durationText, readChoice, readCount, readDuration, readFields, readText } from "./requests.ts";
import type { Tenant, Tenants } from "./tenants.ts";

/** The prefix of the paths of the control API. */
export const controlPath = "/emulator/v1/";

const defaultDelayMs = 1000;

/** The parts that the control API controls. */
export interface ControlOptions {
  readonly adminToken: string;
  /** The domain in error details. */
  readonly domain: string;
  readonly methods: MethodTable;
  readonly tenants: Tenants;
  readonly issuers: EmulatedIssuers;
  readonly faults: Faults;
  readonly clock: MovableClock;
  /** Does what is due at the time of the clock. */
  catchUp(): Promise<void>;
}

type Answer = (request: EndpointRequest, ...parts: readonly string[]) => object | Promise<object>;

/** An HTTP method, the path below the prefix, and the response. */
type Route = readonly [method: string, path: RegExp, answer: Answer];

/** Returns the endpoints by path. */
export function emulatorEndpoints(options: ControlOptions): Endpoints {
  const requireAdmin = adminCheck(options.adminToken);
  const routes = routesOf(options);
  return {
    [controlPath]: endpoint(options.domain, async (request) => {
      requireAdmin(request.call);
      return await route(routes, request);
    }),
    [issuersPath]: endpoint(options.domain, (request) =>
      options.issuers.answer(request, () => requireAdmin(request.call)),
    ),
  };
}

/** Errors are those of the REST API. */
function endpoint(domain: string, answer: (request: EndpointRequest) => Promise<object>): Endpoint {
  const errorResponse = newErrorResponses(() => domain, detailTypes);
  return {
    methods: ["GET", "POST", "DELETE"],
    maxBodyBytes: emulatorLimits.bodyBytes,
    async handle(request) {
      const body = `${JSON.stringify(await answer(request))}\n`;
      return { status: 200, headers: { "content-type": "application/json" }, body };
    },
    refuse: (error: ApiError) => errorResponse(error, undefined),
  };
}

function adminCheck(adminToken: string): (call: Call) => void {
  const expected = hash("sha256", adminToken, "buffer");
  return (call) => {
    const given = requireBearer(call.header("authorization"), "the admin token");
    if (!timingSafeEqual(hash("sha256", given, "buffer"), expected))
      throw unauthenticated("this is not the admin token that the emulator printed when it started");
  };
}

async function route(routes: readonly Route[], request: EndpointRequest): Promise<object> {
  const path = request.path.slice(controlPath.length);
  for (const [method, pattern, answer] of routes) {
    const match = method === request.method ? pattern.exec(path) : undefined;
    if (match) return await answer(request, ...match.slice(1));
  }
  throw notFound("operation", `${request.method} ${request.path}`);
}

function routesOf({ tenants, methods, faults, clock, catchUp }: ControlOptions): readonly Route[] {
  const ofTenant =
    (answer: (tenant: Tenant, request: EndpointRequest) => object | Promise<object>): Answer =>
    (request, tenant = "") =>
      answer(tenants.require(tenant), request);
  return [
    ["POST", /^tenants$/, (request) => tenants.create(readName(request), request.call.requestId)],
    ["POST", /^tenants\/(\w+):token$/, ofTenant((tenant) => tenants.issue(tenant))],
    ["GET", /^tenants\/(\w+)\/faults$/, ofTenant(({ groupUid }) => faultsOf(faults, groupUid))],
    [
      "POST",
      /^tenants\/(\w+)\/faults$/,
      ofTenant(({ groupUid }, request) => {
        faults.add(groupUid, readFault(request, methods));
        return faultsOf(faults, groupUid);
      }),
    ],
    [
      "DELETE",
      /^tenants\/(\w+)\/faults$/,
      ofTenant(({ groupUid }) => {
        faults.clear(groupUid);
        return faultsOf(faults, groupUid);
      }),
    ],
    ["GET", /^clock$/, () => timeOf(clock)],
    [
      "POST",
      /^clock$/,
      async (request) => {
        clock.advance(readAdvance(request, clock));
        await catchUp();
        return timeOf(clock);
      },
    ],
  ];
}

function readName(request: EndpointRequest): string | undefined {
  const name = readText(readFields(request, ["name"]).name, "name");
  const problem = name === undefined ? undefined : problemOf(nameRule, name);
  if (problem !== undefined) throw invalidField("name", problem);
  return name;
}

function readFault(request: EndpointRequest, methods: MethodTable): Fault {
  const { method, times, effect, delay } = readFields(request, ["method", "times", "effect", "delay"]);
  const chosen = readChoice(effect, "effect", faultEffects);
  const delayMs = readDuration(delay, "delay", emulatorLimits.delayMs);
  if (delayMs !== undefined && chosen !== "delay") throw invalidField("delay", "only the effect delay has one");
  return {
    path: readMethod(readText(method, "method"), methods),
    effect: chosen,
    delayMs: delayMs ?? defaultDelayMs,
    times: readCount(times, "times", emulatorLimits.timesOfFault) ?? 1,
  };
}

/** Returns the path of a method; `*` for all of them. */
function readMethod(method: string | undefined, methods: MethodTable): string {
  if (method === undefined) throw invalidField("method", "is required: the full name of a method, or * for all");
  if (method === "*" || methods.get(`/${method}`)) return method === "*" ? method : `/${method}`;
  const names = [...methods.values()].map(({ path }) => path.slice(1));
  const namesakes = names.filter((name) => name.endsWith(`/${method}`) || name.endsWith(`.${method}`));
  const suggestion = namesakes.length > 0 ? `known are ${namesakes.join(", ")}` : didYouMean(method, names);
  throw invalidField("method", `there is no method ${JSON.stringify(method)}${suggestion && `; ${suggestion}`}`);
}

function faultsOf(faults: Faults, groupUid: string): object {
  return {
    faults: faults.of(groupUid).map(({ path, effect, times, delayMs }) => ({
      method: path.replace(/^\//, ""),
      effect,
      times,
      ...(effect === "delay" && { delay: durationText(delayMs) }),
    })),
  };
}

function readAdvance(request: EndpointRequest, { aheadMs }: MovableClock): number {
  const { advance } = readFields(request, ["advance"]);
  const byMs = readDuration(advance, "advance", emulatorLimits.aheadMs - aheadMs);
  if (byMs === undefined) throw invalidField("advance", 'is required: a duration such as "3600s"');
  return byMs;
}

function timeOf({ aheadMs }: MovableClock): object {
  return { now: new Date(systemClock()).toISOString(), ahead: durationText(aheadMs) };
}
