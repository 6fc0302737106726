// Lists of version 1: everything at once, under `items`. One by id is a list of one, or of nothing.
import type { DescField, DescMessage, Message, MessageInitShape, MessageShape } from "@bufbuild/protobuf";
import { resourceExhausted } from "../aip/errors.ts";
import { maxPageSize } from "../aip/pagination.ts";
import { textLength } from "../aip/text-length.ts";
import { limits } from "../config/limits.ts";
import { type Adapted, adapt } from "./adapter.ts";
import type { Today, Unary } from "./current-api.ts";
import { correspond, fieldsOf, type Names, reversed } from "./fields.ts";
import { type Filter, type Places, placedViolation, placeFilter } from "./place-filter.ts";
import { renamer } from "./violations.ts";

/** How a list differs from its counterpart, beyond what fields are called. */
export interface ListDifferences {
  readonly names?: Names;
  /** What fields of an item are called, where it is not the same as in the filter. */
  readonly itemNames?: Names;
  /** Fields that stand for members of the place filter; `id` for `ids` when absent. */
  readonly places?: Places;
}

/** The parts of a reply with pages that every one has. */
interface Page {
  readonly nextPageToken: string;
  readonly totalCount?: bigint;
}

/** A list whose counterpart has pages: all of them, up to a limit, since a reply is one message. */
export function list<I1 extends DescMessage, O1 extends DescMessage, I2 extends DescMessage, O2 extends DescMessage>(
  today: Today,
  v1: Unary<I1, O1>,
  now: Unary<I2, O2>,
  { names = {}, itemNames = names, places = placesOf(v1.input) }: ListDifferences = {},
): Adapted<I1, O1> {
  const moved = Object.fromEntries(Object.keys(places).map((name) => [name, ""]));
  const filters = correspond(v1.input, now.input, { ...names, ...moved });
  const [items, resources] = [repeatedField(v1.output), repeatedField(now.output)];
  const item = correspond(items.message, resources.message, itemNames);
  const rename = renamer([...reversed(names), ...filters.renamed]);

  /** What today's list is asked; undefined when nothing can fit. */
  function request(message: MessageShape<I1>): MessageInitShape<I2> | undefined {
    const asked = fieldsOf<Message>(filters.toNow(message)) as MessageInitShape<I2>;
    if (Object.keys(places).length === 0) return asked;
    const uidp = placeFilter(message as unknown as Filter, places);
    return uidp && { ...asked, uidp };
  }

  const adapted = adapt<I1, O1, I2, O2>(today, now, {
    // The rest of a filter is checked also where nothing can fit its places.
    request: (message) => request(message) ?? (fieldsOf<Message>(filters.toNow(message)) as MessageInitShape<I2>),
    rename: (violation, message) => rename(placedViolation(violation, message as unknown as Filter, places)),
    async answer(ask, message) {
      const asked = request(message);
      const found: object[] = [];
      let length = 0;
      for (let pageToken: string | undefined = asked && ""; pageToken !== undefined; ) {
        const reply = await ask({ ...asked, pageSize: maxPageSize, pageToken } as never);
        const { nextPageToken, totalCount = 0n } = reply as unknown as Page;
        if (totalCount > limits.v1ListItems) throw tooMany(now);
        const page = (reply as unknown as Record<string, Message[]>)[resources.localName] ?? [];
        length += textLength(page);
        if (length > limits.v1ListLength) throw tooLong(now);
        found.push(...page.map((each) => item.toV1(each)));
        pageToken = nextPageToken || undefined;
      }
      return { [items.localName]: found } as MessageInitShape<O1>;
    },
  });
  return {
    ...adapted,
    // Whatever changes between two pages would be missing, or there twice.
    handle: (message, call) => today.readTogether(call, (together) => adapted.handle(message, together)),
  };
}

/** A page size as today's field can hold it: what is more than any page has is as much, and what is negative stays so. */
export function pageSizeOf(size: bigint): number {
  return size < 0n ? -1 : Number(size > maxPageSize ? maxPageSize : size);
}

function placesOf(filter: DescMessage): Places {
  return filter.fields.some(({ name }) => name === "id") ? { id: "ids" } : {};
}

/** The one repeated field of a reply. */
function repeatedField(reply: DescMessage): DescField & { message: DescMessage } {
  const [field, ...others] = reply.fields.filter(({ fieldKind }) => fieldKind === "list");
  if (!field?.message || others.length > 0) throw new Error(`${reply.typeName} is no list of messages`);
  return field as DescField & { message: DescMessage };
}

function tooMany(now: Unary) {
  return tooMuch(now, `has more than ${limits.v1ListItems} items, too many`);
}

/** What is thrown for a list that says more than one reply may. */
export function tooLong(now: Unary) {
  return tooMuch(now, `is longer than ${limits.v1ListLength} characters, too much`);
}

function tooMuch(now: Unary, problem: string) {
  return resourceExhausted(`the list ${problem} for one reply; narrow it, or page through ${now.name}`);
}
