import type { Agent, Dispatcher } from 'undici'
import { tooLarge } from './body.ts'
import { EgressFault } from './failures.ts'
import type { Holding } from './held-bytes.ts'
import type { Hop } from './hops.ts'
import type { Kept } from './part.ts'
import type { SentHeaders } from './response.ts'

export type Exchanged = {
  status: number
  headers: SentHeaders
  body: Buffer
  /** There was more than was kept of it. */
  isCut: boolean
}
type Answer = Pick<Exchanged, 'status' | 'headers'>

export type Expectation = {
  deadline: Deadline
  holding: Holding
  maxBytes: number
  /** Whether the body is to be read; may throw what makes the answer useless. */
  wants: (answer: Answer) => boolean
  /** The bytes of the body that are kept, where that is not all. */
  keep: (answer: Answer) => Kept | null
}

const UNWANTED = new EgressFault('aborted', 'the rest of the answer is not wanted.')
const NOTHING = Buffer.alloc(0)
/** A short body that nobody wants is let pass, so that its connection can be used again. */
const MAX_UNWANTED = 16_384

/**
 * One request and its answer, by undici's own events: a stream and a signal for each call would cost more than the call. The
 * answer comes a turn after its last byte, when undici takes the connection for free: a call that follows at once would
 * otherwise open another.
 */
export function exchange(
  agent: Agent,
  hop: Hop,
  { deadline, holding, maxBytes, wants, keep }: Expectation,
): Promise<Exchanged> {
  const { promise, resolve, reject } = Promise.withResolvers<Exchanged>()
  const chunks: Buffer[] = []
  let size = 0
  let wanted = true
  let kept: Kept | null = null
  let answer: Answer | undefined
  let controller: Dispatcher.DispatchController | undefined
  const giveUp = (cause: Error) => {
    reject(cause)
    controller?.abort(cause)
  }
  // undici knows of no way to end a call before it has a connection for it.
  deadline.watch(giveUp)
  const { origin, pathname, search } = hop.url
  const { method, headers, body } = hop
  agent.dispatch(
    { origin, path: pathname + search, method, headers, body },
    {
      onRequestStart(given) {
        controller = given
        if (deadline.fault !== undefined) given.abort(deadline.fault)
      },
      onResponseStart(given, status, rawHeaders) {
        if (status < 200) return
        try {
          answer = { status, headers: rawHeaders }
          kept = keep(answer)
          if (wants(answer)) return
          wanted = false
          resolve({ ...answer, body: NOTHING, isCut: false })
          deadline.atEnd(() => given.abort(UNWANTED))
        } catch (cause) {
          giveUp(cause as Error)
        }
      },
      onResponseData(given, chunk) {
        size += chunk.length
        if (!wanted) {
          if (size > MAX_UNWANTED) given.abort(UNWANTED)
        } else if (kept !== null && answer !== undefined) {
          const start = size - chunk.length
          const end = kept.skip + kept.take
          const part = chunk.subarray(Math.max(0, kept.skip - start), Math.max(0, end - start))
          chunks.push(part)
          holding.add(part.length)
          if (size <= end) return
          resolve({ ...answer, body: Buffer.concat(chunks), isCut: true })
          given.abort(UNWANTED)
        } else if (size > maxBytes) giveUp(tooLarge(maxBytes))
        else {
          chunks.push(chunk)
          holding.add(chunk.length)
        }
      },
      onResponseEnd() {
        if (answer !== undefined)
          setImmediate(resolve, { ...answer, body: Buffer.concat(chunks), isCut: false })
      },
      onResponseError: (_given, cause) => reject(cause),
    },
  )
  return promise
}

const MAX_TIMER_MS = 2_147_483_647

/** The time for one call, with all that belongs to it. One is made for every call, so it is its own listener. */
export class Deadline {
  /** Why the call is over before its end. */
  fault: EgressFault | undefined
  readonly #timeoutMs: number
  readonly #outer: AbortSignal | undefined
  readonly #timer: NodeJS.Timeout
  #watcher: ((fault: EgressFault) => void) | undefined
  #endings: (() => void)[] | undefined

  constructor(timeoutMs: number, outer: AbortSignal | undefined) {
    this.#timeoutMs = timeoutMs
    this.#outer = outer
    this.#timer = setTimeout(expire, Math.min(timeoutMs, MAX_TIMER_MS), this)
    if (outer?.aborted === true) this.handleEvent()
    else outer?.addEventListener('abort', this)
  }

  /** The call was cancelled. */
  handleEvent(): void {
    this.fail(new EgressFault('aborted', 'the call was cancelled.'))
  }

  expire(): void {
    this.fail(new EgressFault('timeout', `no complete answer within ${this.#timeoutMs} ms. Try again later.`))
  }

  /** Ends the call before its end. */
  fail(cause: EgressFault): void {
    this.fault ??= cause
    this.#watcher?.(this.fault)
  }

  /** Calls `act` when it is, in place of who watched before. */
  watch(act: (fault: EgressFault) => void): void {
    this.#watcher = act
    if (this.fault !== undefined) act(this.fault)
  }

  /** Calls `act` when the call is over, however it ended. */
  atEnd(act: () => void): void {
    this.#endings ??= []
    this.#endings.push(act)
  }

  end(): void {
    clearTimeout(this.#timer)
    this.#outer?.removeEventListener('abort', this)
    this.#watcher = undefined
    for (const act of this.#endings ?? []) act()
  }
}

const expire = (deadline: Deadline): void => deadline.expire()
