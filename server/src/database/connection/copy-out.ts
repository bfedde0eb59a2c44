import type { Connection, Submittable } from 'pg'

/** Complete lines of a COPY, with their line ends. */
export type Lines = { bytes: Buffer; count: number }

const BLOCK_BYTES = 256 * 1024
/**
 * The number of blocks that may wait for the reader. Beyond it the connection is not read, so memory stays flat
 * however slow the reader is.
 */
const MAX_WAITING = 4
const LINE_FEED = 10
const QUOTE = 2

/**
 * A `COPY ... TO STDOUT` that yields blocks of lines. The driver knows the messages but has no query for them, so
 * this class is one: the methods `handle...` are the driver's interface for queries. With `isQuoted`, the quotes
 * (\x02) that PostgreSQL puts around some lines are removed.
 */
export class CopyOut implements Submittable, AsyncIterable<Lines> {
  readonly #text: string
  readonly #lineEnd: Buffer
  readonly #isQuoted: boolean
  readonly #ready: Lines[] = []
  #block = Buffer.allocUnsafe(BLOCK_BYTES)
  #used = 0
  #count = 0
  #connection: Connection | undefined
  #ended = false
  #failure: Error | undefined
  #changed = Promise.withResolvers<void>()

  constructor(text: string, lineEnd: '\n' | '\r\n', isQuoted = false) {
    this.#isQuoted = isQuoted
    this.#text = text
    this.#lineEnd = Buffer.from(lineEnd)
  }

  submit(connection: Connection): void {
    this.#connection = connection
    connection.query(this.#text)
  }

  /**
   * Adds one line; each message holds one line. Its bytes must be copied: the driver reads into the same memory
   * again.
   */
  handleCopyData({ chunk }: { chunk: Buffer }): void {
    const end = chunk.length - 1
    if (chunk[end] !== LINE_FEED) this.handleError(new Error('PostgreSQL sent an incomplete line of a COPY'))
    const hasQuotes = this.#isQuoted && chunk[0] === QUOTE
    this.#add(hasQuotes ? withoutQuotes(chunk.subarray(1, end - 1)) : chunk.subarray(0, end))
  }

  #add(line: Buffer): void {
    const { length } = line
    const needed = length + this.#lineEnd.length
    if (this.#used + needed > this.#block.length) this.#pass(Math.max(BLOCK_BYTES, needed))
    line.copy(this.#block, this.#used)
    this.#lineEnd.copy(this.#block, this.#used + length)
    this.#used += needed
    this.#count += 1
  }

  handleError(error: Error): void {
    this.#failure = error
    this.#changed.resolve()
  }

  handleReadyForQuery(): void {
    this.#pass(0)
    this.#ended = true
    this.#changed.resolve()
  }

  handleCommandComplete(): void {}
  handleEmptyQuery(): void {}

  async *[Symbol.asyncIterator](): AsyncGenerator<Lines> {
    for (;;) {
      const next = this.#ready.shift()
      if (next !== undefined) {
        if (this.#ready.length < MAX_WAITING) this.#connection?.stream.resume()
        yield next
      } else if (this.#failure !== undefined) {
        throw this.#failure
      } else if (this.#ended) {
        return
      } else {
        await this.#changed.promise
        this.#changed = Promise.withResolvers<void>()
      }
    }
  }

  #pass(nextBytes: number): void {
    if (this.#count > 0) {
      this.#ready.push({ bytes: this.#block.subarray(0, this.#used), count: this.#count })
      this.#changed.resolve()
    }
    this.#block = Buffer.allocUnsafe(nextBytes)
    this.#used = 0
    this.#count = 0
    if (this.#ready.length >= MAX_WAITING) this.#connection?.stream.pause()
  }
}

/** Undoes the doubling of quotes within a line. */
function withoutQuotes(line: Buffer): Buffer {
  if (!line.includes(QUOTE)) return line
  return Buffer.from(line.toString('latin1').replaceAll('\x02\x02', '\x02'), 'latin1')
}
