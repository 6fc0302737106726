// A receiver of events for the tests and pictures of the console.
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";

/** A receiver of events, whose response can be changed. */
export interface Receiver {
  readonly url: string;
  answer: { readonly status: number; readonly text: string };
  close(): void;
}

/** Starts a receiver at a free port. */
export async function openReceiver(answer: Receiver["answer"], path = "/gatehouse"): Promise<Receiver> {
  const server = createServer((request, response) => {
    request.resume();
    response.writeHead(receiver.answer.status).end(receiver.answer.text);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const receiver: Receiver = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}${path}`,
    answer,
    close() {
      server.closeAllConnections();
      server.close();
    },
  };
  return receiver;
}
