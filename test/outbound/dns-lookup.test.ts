import assert from "node:assert/strict";
import { createSocket } from "node:dgram";
import { it } from "node:test";
import { newLookup } from "../../src/outbound/dns-lookup.ts";
import { outboundLimits } from "../../src/outbound/http.ts";

/** A DNS server that has one address for each name of its own, answers nothing about silent ones, and knows no other. */
async function startDns() {
  const socket = createSocket("udp4");
  let asked = 0;
  socket.on("message", (query, { port, address }) => {
    asked++;
    const [name, end] = readName(query);
    if (name.startsWith("silent")) return;
    const isFour = query.readUInt16BE(end) === 1;
    const data = name.startsWith("known") ? [192, 0, 2, 1] : [];
    const record = isFour && data.length > 0 ? [0xc0, 12, 0, 1, 0, 1, 0, 0, 0, 60, 0, 4, ...data] : [];
    const isMissing = data.length === 0;
    // RFC 1035 §4.1.1: a response, that of a name which does not exist, with one question and the answers.
    const flags = [0x81, isMissing ? 0x83 : 0x80, 0, 1, 0, record.length > 0 ? 1 : 0, 0, 0, 0, 0];
    const question = query.subarray(12, end + 4);
    socket.send(Buffer.from([...query.subarray(0, 2), ...flags, ...question, ...record]), port, address);
  });
  await new Promise<void>((done) => socket.bind(0, "127.0.0.1", done));
  const servers = [`127.0.0.1:${socket.address().port}`];
  return { servers, asked: () => asked, [Symbol.dispose]: () => void socket.close() };
}

/** Returns the name of the question, and where it ends. */
function readName(query: Buffer): [name: string, end: number] {
  const labels: string[] = [];
  let at = 12;
  for (let length = query[at]!; length > 0; length = query[at]!) {
    labels.push(query.toString("latin1", at + 1, at + 1 + length));
    at += 1 + length;
  }
  return [labels.join("."), at + 1];
}

const found = [{ address: "192.0.2.1", family: 4 }];

it("J4: silent servers of other names keep no name from being found, and no thread", async () => {
  using server = await startDns();
  let systemAsked = 0;
  const system = () => {
    systemAsked++;
    return new Promise<never>(() => {});
  };
  const lookUp = newLookup({ servers: server.servers, system });
  const silent = Array.from({ length: 20 }, (_, index) => lookUp(`silent-${index}.example`));
  assert.deepEqual(await lookUp("known.example"), found);
  assert.equal(systemAsked, 0);
  // All but the first, for which the system is asked.
  const refused = await Promise.allSettled(silent.slice(1));
  assert.ok(refused.every(({ status }) => status === "rejected"));
  assert.equal(systemAsked, 1);
  assert.deepEqual(await lookUp("known.example"), found);
});

it("a name that is not in DNS is looked up by the system, and again later", async () => {
  using server = await startDns();
  const asked: string[] = [];
  const system = async (hostname: string) => {
    asked.push(hostname);
    if (asked.length === 1) throw new Error("not found");
    return found;
  };
  const lookUp = newLookup({ servers: server.servers, system });
  await assert.rejects(lookUp("file.example"), /not found/);
  assert.deepEqual(await lookUp("file.example"), found);
  assert.deepEqual(asked, ["file.example", "file.example"]);
});

it("the system is asked for one name at a time, and for all of them", async () => {
  let [asked, most] = [0, 0];
  const system = async () => {
    most = Math.max(most, ++asked);
    await new Promise((resolve) => setTimeout(resolve, 10));
    asked--;
    return found;
  };
  const lookUp = newLookup({ servers: ["127.0.0.1:1"], system });
  const names = ["a", "b", "c", "d"];
  assert.deepEqual(
    await Promise.all(names.map((name) => lookUp(`${name}.example`))),
    names.map(() => found),
  );
  assert.equal(most, 1);
});

it("a name is looked up by the system where no DNS server listens", async () => {
  const lookUp = newLookup({ servers: ["127.0.0.1:1"], system: async () => found });
  assert.deepEqual(await lookUp("known.example"), found);
});

it("a name is looked up by the system in time where several DNS servers are silent", async (t) => {
  using first = await startDns();
  using second = await startDns();
  t.mock.timers.enable({ apis: ["setTimeout"] });
  const lookUp = newLookup({ servers: [...first.servers, ...second.servers], system: async () => found });
  const finding = lookUp("silent.example");
  t.mock.timers.tick(outboundLimits.timeoutMs - 1000);
  assert.deepEqual(await finding, found);
  assert.equal(second.asked(), 0, "DNS was still asked when there was no time left for it");
});
