import type { Connection, Submittable } from 'pg'

/** The parts of the driver's connection for COPY that its types leave out. */
type CopyConnection = Connection & { sendCopyFromChunk(bytes: Buffer): void; endCopyFrom(): void }

/** A `COPY ... FROM STDIN` of complete lines, as a query of the driver. `done` resolves to the number of rows. */
export class CopyIn implements Submittable {
  readonly done: Promise<number>
  readonly #text: string
  readonly #lines: Buffer
  readonly #end = Promise.withResolvers<number>()
  #count = 0

  constructor(text: string, lines: Buffer) {
    this.#text = text
    this.#lines = lines
    this.done = this.#end.promise
  }

  submit(connection: Connection): void {
    connection.query(this.#text)
  }

  handleCopyInResponse(connection: CopyConnection): void {
    connection.sendCopyFromChunk(this.#lines)
    connection.endCopyFrom()
  }

  handleCommandComplete({ text }: { text: string }): void {
    this.#count = Number(/^COPY (\d+)$/.exec(text)?.[1] ?? 0)
  }

  handleError(error: Error): void {
    this.#end.reject(error)
  }

  handleReadyForQuery(): void {
    this.#end.resolve(this.#count)
  }

  handleEmptyQuery(): void {}
}
