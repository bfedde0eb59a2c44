import { Call, type WithResponse } from './call.ts'

/** One page of a list: the fields of the wire, the next page, and an iteration over all items from here on. */
export type Page<Wire, Item> = Wire & {
  hasNextPage(): boolean
  /** Fetches the next page. Fails if there is none. */
  nextPage(): Promise<Page<Wire, Item>>
  [Symbol.asyncIterator](): AsyncIterator<Item>
}

export type PageSource<Wire, Item> = {
  fetch: () => Call<Wire>
  items: (wire: Wire) => Item[]
  /** Returns where the next page comes from, or null if this is the last one. */
  next: (wire: Wire) => PageSource<Wire, Item> | null
}

/** A promise of the first page, and an iteration over all items of all pages. */
export class PageCall<Wire extends object, Item>
  extends Call<Page<Wire, Item>>
  implements AsyncIterable<Item>
{
  #answer: Promise<WithResponse<Page<Wire, Item>>> | undefined

  static first<Wire extends object, Item>(source: PageSource<Wire, Item>): PageCall<Wire, Item> {
    const answer = source
      .fetch()
      .withResponse()
      .then(({ data, ...rest }) => ({ ...rest, data: toPage(data, source) }))
    const call = new PageCall<Wire, Item>((resolve, reject) => {
      answer.then(({ data }) => resolve(data), reject)
    })
    call.#answer = answer
    return call
  }

  override async withResponse(): Promise<WithResponse<Page<Wire, Item>>> {
    if (this.#answer === undefined) throw new TypeError('this call was not made by a method of the SDK')
    // A failure is reported by the promise that is returned, not a second time by this one.
    this.catch(() => undefined)
    return this.#answer
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Item> {
    yield* await this
  }
}

function toPage<Wire extends object, Item>(wire: Wire, source: PageSource<Wire, Item>): Page<Wire, Item> {
  const following = source.next(wire)
  const methods = {
    hasNextPage: () => following !== null,
    nextPage: async () => {
      if (following === null) throw new RangeError('This is the last page: ask `hasNextPage()` first')
      return toPage(await following.fetch(), following)
    },
    [Symbol.asyncIterator]: () => iterate(wire, source),
  }
  // The methods are not enumerable, so that a page is printed and compared as its fields.
  return Object.defineProperties(
    { ...wire },
    Object.fromEntries(Reflect.ownKeys(methods).map((key) => [key, { value: Reflect.get(methods, key) }])),
  ) as Page<Wire, Item>
}

async function* iterate<Wire extends object, Item>(
  wire: Wire,
  source: PageSource<Wire, Item>,
): AsyncGenerator<Item> {
  let [page, from] = [wire, source]
  for (;;) {
    yield* from.items(page)
    const following = from.next(page)
    if (following === null) return
    page = await following.fetch()
    from = following
  }
}

/** Iterates over all items and fetches one page ahead of the reader. */
export async function* readAhead<Wire extends object, Item>(
  source: PageSource<Wire, Item>,
): AsyncGenerator<Item> {
  let from: PageSource<Wire, Item> | null = source
  let coming = source.fetch()
  while (from !== null) {
    const page: Wire = await coming
    const following: PageSource<Wire, Item> | null = from.next(page)
    if (following !== null) {
      coming = following.fetch()
      // A reader that stops does not wait for the page; its failure is reported when it is read.
      coming.catch(() => undefined)
    }
    yield* from.items(page)
    from = following
  }
}
