// Workloads that exchange tokens at all servers at once. Each token of one server is used at another one.
import assert from "node:assert/strict";
import { setTimeout } from "node:timers/promises";
import { createLocalJWKSet, decodeProtectedHeader, jwtVerify } from "jose";
import { builtInRoles } from "../../src/authz/built-in-roles.ts";
import { rest } from "../harness/rest.ts";
import { basic } from "../registry/sign-in.ts";
import { keyPair, signOutside, startIssuer } from "../sts/outside.ts";

/** An audience of `--audiences`: its tokens are not for Gatehouse. */
export const otherAudience = "https://orders.example";

/** The running workloads. */
export interface Exchanges extends AsyncDisposable {
  /** How many responses each server gave. */
  readonly responses: ReadonlyMap<string, number>;
  readonly failures: readonly string[];
  /** Resolves once a server has given this many more responses, or the workloads are stopped; rejects at the first failure. */
  answeredBy(address: string, count: number): Promise<void>;
  /** Lets running exchanges finish. */
  stop(): Promise<void>;
}

/** The installation. A server runs at its base URL at the beginning. */
interface Place {
  readonly baseUrl: string;
  readonly ownerToken: string;
  readonly parent: string;
}

interface Answer {
  readonly address: string;
  readonly status: number;
  // biome-ignore lint/suspicious/noExplicitAny: responses are untyped JSON
  readonly body: any;
}

type Ask = (path: string, init?: RequestInit, other?: string) => Promise<Answer>;

/** Starts workloads that use all addresses, of which some may not have a server. */
export async function startExchanges(addresses: readonly string[], place: Place, clients = 4): Promise<Exchanges> {
  const key = keyPair("ES256");
  const issuer = await startIssuer(key);
  const identity = await createWorkload(place, issuer.url);
  const responses = new Map<string, number>();
  const failures: string[] = [];
  const ask = newClient(addresses, responses);
  const subjectToken = () => {
    const exp = Math.floor(Date.now() / 1000) + 600;
    return signOutside(key, { iss: issuer.url, sub: "job", aud: place.baseUrl, exp, jti: crypto.randomUUID() });
  };
  let isRunning = true;
  const loops = Array.from({ length: clients }, async () => {
    while (isRunning) {
      try {
        await runJob(ask, place.baseUrl, identity, await subjectToken());
      } catch (error) {
        failures.push(String(error));
      }
      // Leaves time for the other processes of a small machine.
      await setTimeout(20);
    }
  });
  const stop = async () => {
    isRunning = false;
    await Promise.all(loops);
  };
  return {
    responses,
    failures,
    async answeredBy(address, count) {
      const wanted = (responses.get(address) ?? 0) + count;
      while (isRunning && (responses.get(address) ?? 0) < wanted) {
        assert.deepEqual(failures, []);
        await setTimeout(20);
      }
    },
    stop,
    async [Symbol.asyncDispose]() {
      await stop();
      await issuer[Symbol.asyncDispose]();
    },
  };
}

async function createWorkload({ baseUrl, ownerToken, parent }: Place, issuer: string): Promise<string> {
  const call = async (path: string, body: object) => {
    const created = await rest(baseUrl, ownerToken, "POST", path, body);
    assert.equal(created.status, 200, JSON.stringify(created.body));
    return created.body.uid as string;
  };
  const claimMatch = { issuer, subject: "job" };
  const identity = await call(`/iam/v2beta1/identities/${parent}`, { name: "upgrade-job", claimMatch });
  const roleUid = builtInRoles.find(({ name }) => name === "viewer")!.uid;
  await call(`/iam/v2beta1/roleBindings/${parent}`, { identityUid: identity, roleUid });
  return identity;
}

/** Exchanges a token, and uses what it gets at other servers: at the API, for the registry, and for an exchange again. */
async function runJob(ask: Ask, baseUrl: string, identity: string, subjectToken: string): Promise<void> {
  const bearer = (token: string) => ({ headers: { authorization: `Bearer ${token}` } });
  const exchange = async (aud: string) => {
    const query = new URLSearchParams({ aud, identity });
    return accepted("an exchange", await ask(`/sts/exchange?${query}`, bearer(subjectToken)));
  };
  const own = await exchange(baseUrl);
  const token: string = own.body.token;
  accepted(`a token of ${own.address}`, await ask("/iam/v2beta1/groups", bearer(token), own.address));

  const form = new URLSearchParams({
    grant_type: "urn:ietf:params:oauth:grant-type:token-exchange",
    subject_token: token,
    subject_token_type: "urn:ietf:params:oauth:token-type:access_token",
    client_id: identity,
  });
  accepted(`${own.address}'s own token`, await ask("/sts/token", { method: "POST", body: form }, own.address));

  const query = new URLSearchParams({
    service: "registry.gatehouse.internal",
    scope: "repository:example.org/hello:pull",
  });
  const signedIn = accepted("a sign-in", await ask(`/token?${query}`, { headers: basic(identity, subjectToken) }));
  const keys = accepted("the key set", await ask("/token/jwks.json", {}, signedIn.address));
  await jwtVerify(signedIn.body.token, createLocalJWKSet(keys.body));

  const other = (await exchange(otherAudience)).body.token;
  assert.equal(decodeProtectedHeader(other).alg, "RS256", "a token for another audience has its algorithm");
}

function accepted(what: string, answer: Answer): Answer {
  const { address, status, body } = answer;
  assert.equal(status, 200, `${what} at ${address}: ${JSON.stringify(body)}`);
  return answer;
}

/** How long a client looks for a server. */
const patienceMs = 20_000;

/** Returns a client that asks a server at random, if possible not the one that it is told, and another one if that is not there or drains. */
function newClient(addresses: readonly string[], responses: Map<string, number>): Ask {
  return async (path, init, besides) => {
    const deadline = performance.now() + patienceMs;
    for (;;) {
      const isPatient = performance.now() < deadline - patienceMs / 2;
      const others = addresses.filter((address) => address !== besides || !isPatient);
      const address = others[Math.floor(Math.random() * others.length)]!;
      try {
        const response = await fetch(`http://${address}${path}`, init);
        const body = await response.json();
        if (response.status !== 503) {
          responses.set(address, (responses.get(address) ?? 0) + 1);
          return { address, status: response.status, body };
        }
      } catch (error) {
        if (performance.now() > deadline) throw error;
      }
      await setTimeout(10);
    }
  };
}
