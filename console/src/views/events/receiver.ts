// An example of an event, and the code of a receiver, with the values of one subscription.

/** Returns a request with an event, as a subscriber of a group gets it. */
export function exampleEvent(origin: string, groupUid: string): string {
  const uid = `${groupUid}/023be66cb502058f`;
  const time = "2026-11-23T15:24:31.082Z";
  const body = { uid, name: "team-e", createTime: time, updateTime: time };
  const actor = {
    subject: `${groupUid.split("/")[0]}/020d45a2fb9d0c8c`,
    act: { iss: "https://issuer.example.org", sub: "ci" },
  };
  return `POST /gatehouse HTTP/1.1
content-type: application/json
ce-specversion: 1.0
ce-id: 33d26c65-59d8-89c6-9f6a-5bfc2cb218e5
ce-type: dev.chainguard.api.iam.group.created.v1
ce-source: ${origin}/iam/v2beta1/groups
ce-subject: ${uid}
ce-time: ${time}
ce-group: ${uid}
ce-audience: customer
ce-bodytype: chainguard.platform.iam.v2beta1.Group
authorization: Bearer eyJ…

${JSON.stringify({ actor, body }, null, 2)}`;
}

/** Returns a program for Node that verifies the events of subscriptions of a group. */
export function receiverCode(origin: string, groupUid: string): string {
  return `import { createHash } from "node:crypto";
import { createServer } from "node:http";
import { createRemoteJWKSet, jwtVerify } from "jose";

const issuer = "${origin}";
const subject = "webhook:${groupUid}";
const keys = createRemoteJWKSet(new URL(issuer + "/.well-known/jwks.json"));

createServer(async (request, response) => {
  const parts = [];
  for await (const part of request) parts.push(part);
  const body = Buffer.concat(parts);
  try {
    const token = String(request.headers.authorization).replace("Bearer ", "");
    const { payload } = await jwtVerify(token, keys, { issuer, audience: "customer", subject });
    const digest = "sha256:" + createHash("sha256").update(body).digest("hex");
    if (payload.webhook.digest !== digest) throw new Error("the body is not what was signed");
    console.log(request.headers["ce-type"], JSON.parse(body));
    response.writeHead(204).end();
  } catch (error) {
    console.error(error);
    response.writeHead(401).end();
  }
}).listen(9000, "127.0.0.1");`;
}
