// Adapts lists of version 1, which return all items at once under `items`. A list by id returns one item or none.
import type { DescField, DescMessage, Message, MessageInitShape, MessageShape } from "@bufbuild/protobuf";
import { resourceExhausted } from "../aip/errors.ts";
import { maxPageSize } from "../aip/pagination.ts";
import { textLength } from "../aip/text-length.ts";
import type { Call } from "../pipeline/call.ts";
import { expensive } from "../pipeline/expensive.ts";
import { type Adapted, adapt } from "./adapter.ts";
import type { CurrentApi, Unary } from "./current-api.ts";
import { type FieldNames, fieldsOf, mapMessages, reversed } from "./fields.ts";
import { v1Limits } from "./limits.ts";
import { type Filter, type Places, placedViolation, placeFilter } from "./place-filter.ts";
import { renamer } from "./violations.ts";

/** The differences of a list from its counterpart. */
export interface ListDifferences {
  readonly names?: FieldNames;
  /** The names of item fields, if they differ from those of the filter. */
  readonly itemNames?: FieldNames;
  /** Filter fields that map to members of the place filter; `id` to `ids` if absent. */
  readonly places?: Places;
}

/** The paging fields of a response. */
interface Page {
  readonly nextPageToken: string;
  readonly totalCount?: bigint;
}

/** Adapts a list whose counterpart has pages: reads all pages, up to a limit, into one response. */
export function list<I1 extends DescMessage, O1 extends DescMessage, I2 extends DescMessage, O2 extends DescMessage>(
  api: CurrentApi,
  v1: Unary<I1, O1>,
  current: Unary<I2, O2>,
  { names = {}, itemNames = names, places = placesOf(v1.input) }: ListDifferences = {},
): Adapted<I1, O1> {
  const moved = Object.fromEntries(Object.keys(places).map((name) => [name, ""]));
  const filters = mapMessages(v1.input, current.input, { ...names, ...moved });
  const [items, resources] = [repeatedField(v1.output), repeatedField(current.output)];
  const item = mapMessages(items.message, resources.message, itemNames);
  const rename = renamer([...reversed(names), ...filters.renamed]);

  /** Builds the current request; undefined if nothing can match. */
  function request(message: MessageShape<I1>): MessageInitShape<I2> | undefined {
    const asked = fieldsOf<Message>(filters.toCurrent(message)) as MessageInitShape<I2>;
    if (Object.keys(places).length === 0) return asked;
    const uidp = placeFilter(message as unknown as Filter, places);
    return uidp && { ...asked, uidp };
  }

  const adapted = adapt<I1, O1, I2, O2>(api, current, {
    // The rest of a filter is validated even if nothing can match its places.
    request: (message) => request(message) ?? (fieldsOf<Message>(filters.toCurrent(message)) as MessageInitShape<I2>),
    rename: (violation, message) => rename(placedViolation(violation, message as unknown as Filter, places)),
    async respond(callCurrent, message) {
      const asked = request(message);
      const read = (pageToken: string) => callCurrent({ ...asked, pageSize: maxPageSize, pageToken } as never);
      const found = asked ? await readPages(current, resources.localName, read) : [];
      return { [items.localName]: found.map((each) => item.toV1(each)) } as MessageInitShape<O1>;
    },
  });
  return {
    ...adapted,
    // One snapshot for all pages: an item that moves between two reads would be missing or listed twice.
    handle: expensive((message: MessageShape<I1>, call: Call) =>
      api.readTogether(call, (together) => adapted.handle(message, together)),
    ),
  };
}

/** Reads the items of all pages. Throws if they are too many or too long for one response. */
async function readPages(method: Unary, items: string, read: (pageToken: string) => Promise<unknown>) {
  const found: Message[] = [];
  let length = 0;
  for (let pageToken: string | undefined = ""; pageToken !== undefined; ) {
    const response = await read(pageToken);
    const { nextPageToken, totalCount = 0n } = response as Page;
    if (totalCount > v1Limits.v1ListItems) throw tooMany(method);
    const page = (response as Record<string, Message[]>)[items] ?? [];
    length += textLength(page);
    if (length > v1Limits.v1ListLength) throw tooLong(method);
    found.push(...page);
    pageToken = nextPageToken || undefined;
  }
  return found;
}

/** Clamps a page size to the maximum. A negative one stays negative, because v2beta1 rejects it. */
export function pageSizeOf(size: bigint): number {
  return size < 0n ? -1 : Number(size > maxPageSize ? maxPageSize : size);
}

function placesOf(filter: DescMessage): Places {
  return filter.fields.some(({ name }) => name === "id") ? { id: "ids" } : {};
}

/** Returns the repeated field of a response. Throws an Error unless it has exactly one. */
function repeatedField(response: DescMessage): DescField & { message: DescMessage } {
  const [field, ...others] = response.fields.filter(({ fieldKind }) => fieldKind === "list");
  if (!field?.message || others.length > 0) throw new Error(`${response.typeName} is not a list of messages`);
  return field as DescField & { message: DescMessage };
}

function tooMany(current: Unary) {
  return tooMuch(current, `has more than ${v1Limits.v1ListItems} items, too many`);
}

/** Returns the error for a list that is too long for one response. */
export function tooLong(current: Unary) {
  return tooMuch(current, `is longer than ${v1Limits.v1ListLength} characters, too much`);
}

function tooMuch(current: Unary, problem: string) {
  return resourceExhausted(`the list ${problem} for one response; filter it, or page through ${current.name}`);
}
