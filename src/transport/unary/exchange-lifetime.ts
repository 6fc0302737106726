import type { ApiError } from "../../aip/errors.ts";
import { clientDisconnected, WorkLifetime } from "../../pipeline/call-lifetime.ts";
import type { Exchange } from "../http/exchange.ts";

/** The lifetime of a call over an exchange. It looks for the client only when asked: a listener for each call would take longer. */
export class ExchangeLifetime extends WorkLifetime {
  readonly #exchange: Exchange;

  constructor(exchange: Exchange) {
    super();
    this.#exchange = exchange;
  }

  override get ended(): ApiError | undefined {
    if (this.#exchange.isAbandoned) this.end(clientDisconnected());
    return super.ended;
  }
}
