// The endpoints of AuthZEN (Authorization API 1.0): gateways and applications ask who may do what, in the words of a standard.
import { type ApiError, invalidField } from "../aip/errors.ts";
import type { Call } from "../pipeline/call.ts";
import type { Endpoint, EndpointResponse, Endpoints } from "../transport/pages/endpoints.ts";
import { type Asker, type AuthzenDeps, authenticateAsker } from "./asker.ts";
import { evaluate, evaluateAll } from "./evaluations.ts";
import { authzenPaths } from "./metadata.ts";
import { type Members, readObject } from "./request.ts";
import { searchActions, searchResources, searchSubjects } from "./search.ts";

/** A batch has a hundred questions of some hundred bytes, with properties that nobody reads. */
const maxBodyBytes = 1024 * 1024;

const mediaType = "application/json";

/** Returns the response to the body of a request. */
type Answer = (body: Members, asker: Asker) => Promise<object>;

/** Returns the endpoints by path. */
export function authzenEndpoints(deps: AuthzenDeps): Endpoints {
  return {
    [authzenPaths.evaluation]: endpoint(deps, evaluate),
    [authzenPaths.evaluations]: endpoint(deps, evaluateAll),
    [authzenPaths.subjects]: endpoint(deps, searchSubjects),
    [authzenPaths.resources]: endpoint(deps, searchResources),
    [authzenPaths.actions]: endpoint(deps, searchActions),
  };
}

function endpoint(deps: AuthzenDeps, answer: Answer): Endpoint {
  return {
    methods: ["POST"],
    maxBodyBytes,
    bodyTypes: [mediaType],
    admit: echoRequestId,
    async handle({ call, json }) {
      const asker = await authenticateAsker(deps, call);
      if (call.header("content-type") === undefined) throw invalidField("content-type", `must be ${mediaType}`);
      const response = await answer(readObject(json(), "body"), asker);
      return { status: 200, headers: { "content-type": mediaType }, body: `${JSON.stringify(response)}\n` };
    },
    refuse,
  };
}

/** §10.1.3: the response repeats the id of the client. The log has the server's own, which nobody else can choose. */
function echoRequestId(call: Call): void {
  const given = call.header("x-request-id");
  if (given !== undefined) call.setResponseHeader("x-request-id", given);
}

/** §10.1.2: an error has a status and a message. Requests that cannot be read are 400, also for their size or media type. */
function refuse({ message }: ApiError, status: number): EndpointResponse {
  const isUnreadable = status === 413 || status === 415;
  return {
    status: isUnreadable ? 400 : status,
    headers: { "content-type": "text/plain; charset=utf-8" },
    body: `${message}\n`,
  };
}
