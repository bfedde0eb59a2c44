import type { Agent, Dispatcher } from 'undici'
import { pause } from '../timing/turns.ts'
import { checkDeclaredLength, tooLarge } from './body.ts'
import { EgressFault } from './failures.ts'
import type { Holding } from './held-bytes.ts'
import { type Hop, locationOf } from './hops.ts'
import { type Kept, keptOf } from './part.ts'
import type { CallOff, EgressRequest } from './request.ts'
import type { SentHeaders } from './response.ts'

export type Exchanged = {
  status: number
  headers: SentHeaders
  body: Buffer
  /** Tells that the body had more bytes than were kept. */
  isCut: boolean
}

export type Expectation = {
  request: Pick<EgressRequest, 'part' | 'redirects'>
  deadline: Deadline
  holding: Holding
  maxBytes: number
}

/** The size from which a body takes a millisecond to be joined. */
const LARGE = 1024 * 1024
const UNWANTED = new EgressFault('aborted', 'the rest of the answer is not wanted.')
const NOTHING = Buffer.alloc(0)
/**
 * The largest body that is read to its end although nobody wants it, so that its connection can be reused.
 */
const MAX_UNWANTED = 16_384

/**
 * Sends one request and receives its response, using undici's own events: a stream and a signal for each call
 * would cost more than the call. The promise resolves one turn of the event loop after the last byte, when
 * undici counts the connection as free: otherwise a call that follows at once would open another connection.
 */
export function exchange(agent: Agent, hop: Hop, expected: Expectation): Promise<Exchanged> {
  const under = new Exchange(hop, expected)
  const { pathname, search } = hop.url
  const { origin, method, headers, body } = hop
  agent.dispatch({ origin, path: pathname + search, method, headers, body }, under)
  return under.promise
}

/** Receives the events of undici. It is a class because an instance is created for every call. */
class Exchange implements Dispatcher.DispatchHandler {
  readonly promise: Promise<Exchanged>
  #resolve!: (exchanged: Exchanged) => void
  #reject!: (cause: Error) => void
  readonly #hop: Hop
  readonly #expected: Expectation
  #controller: Dispatcher.DispatchController | undefined
  #status = 0
  #headers: SentHeaders | undefined
  readonly #chunks: Buffer[] = []
  #size = 0
  #isWanted = true
  /** The range of bytes that is kept, or null to keep the whole body. */
  #kept: Kept | null = null

  constructor(hop: Hop, expected: Expectation) {
    this.promise = new Promise((resolve, reject) => {
      this.#resolve = resolve
      this.#reject = reject
    })
    this.#hop = hop
    this.#expected = expected
    // undici has no way to end a call before the call has a connection.
    expected.deadline.watch(this)
  }

  fail(cause: Error): void {
    this.#reject(cause)
    this.#controller?.abort(cause)
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller
    const { fault } = this.#expected.deadline
    if (fault !== undefined) controller.abort(fault)
  }

  onResponseStart(controller: Dispatcher.DispatchController, status: number, headers: SentHeaders): void {
    if (status < 200) return
    try {
      this.#status = status
      this.#headers = headers
      this.#kept = keptOf(this.#expected.request.part, { status, headers })
      if (this.#wantsBody(status, headers)) return
      this.#isWanted = false
      this.#resolve({ status, headers, body: NOTHING, isCut: false })
      this.#expected.deadline.atEnd(() => controller.abort(UNWANTED))
    } catch (cause) {
      this.fail(cause as Error)
    }
  }

  /** Returns true if the body is needed. Throws if the response is unusable. */
  #wantsBody(status: number, headers: SentHeaders): boolean {
    const { request, maxBytes } = this.#expected
    if (request.redirects !== 'return' && locationOf(status, headers) !== null) return false
    if (this.#hop.method !== 'HEAD' && this.#kept === null) checkDeclaredLength(headers, maxBytes)
    return true
  }

  onResponseData(controller: Dispatcher.DispatchController, chunk: Buffer): void {
    const { holding, maxBytes } = this.#expected
    this.#size += chunk.length
    if (!this.#isWanted) {
      if (this.#size > MAX_UNWANTED) controller.abort(UNWANTED)
    } else if (this.#kept !== null) this.#keepPart(controller, chunk, this.#kept)
    else if (this.#size > maxBytes) this.fail(tooLarge(maxBytes))
    else {
      this.#chunks.push(chunk)
      holding.add(chunk.length)
    }
  }

  #keepPart(controller: Dispatcher.DispatchController, chunk: Buffer, { skip, take }: Kept): void {
    const start = this.#size - chunk.length
    const end = skip + take
    const part = chunk.subarray(Math.max(0, skip - start), Math.max(0, end - start))
    this.#chunks.push(part)
    this.#expected.holding.add(part.length)
    if (this.#size <= end || this.#headers === undefined) return
    const body = Buffer.concat(this.#chunks)
    this.#resolve({ status: this.#status, headers: this.#headers, body, isCut: true })
    controller.abort(UNWANTED)
  }

  onResponseEnd(): void {
    if (this.#headers === undefined) return
    const reply = { status: this.#status, headers: this.#headers, isCut: false }
    const [first = NOTHING, ...others] = this.#chunks
    if (others.length === 0) setImmediate(this.#resolve, { ...reply, body: first })
    else setImmediate(() => void this.#join(reply))
  }

  /** Joins the chunks of a body, in turns with other work if they are large. */
  async #join(reply: Omit<Exchanged, 'body'>): Promise<void> {
    if (this.#size > LARGE) await pause()
    this.#resolve({ ...reply, body: Buffer.concat(this.#chunks) })
  }

  onResponseError(_controller: Dispatcher.DispatchController, cause: Error): void {
    this.#reject(cause)
  }
}

const MAX_TIMER_MS = 2_147_483_647

type Failing = { fail(fault: EgressFault): void }

/** The deadline of one call. An instance is created for every call, so it is its own event listener. */
export class Deadline {
  /** The reason why the call ended early. */
  fault: EgressFault | undefined
  readonly #timeoutMs: number
  readonly #outer: CallOff | undefined
  readonly #timer: NodeJS.Timeout
  #watcher: Failing | undefined
  #endings: (() => void)[] | undefined

  constructor(timeoutMs: number, outer: CallOff | undefined) {
    this.#timeoutMs = timeoutMs
    this.#outer = outer
    this.#timer = setTimeout(expire, Math.min(timeoutMs, MAX_TIMER_MS), this)
    if (outer?.aborted === true) this.handleEvent()
    else outer?.addEventListener('abort', this)
  }

  /** Ends the call as cancelled. */
  handleEvent(): void {
    this.fail(new EgressFault('aborted', 'the call was cancelled.'))
  }

  expire(): void {
    this.fail(new EgressFault('timeout', `no complete answer within ${this.#timeoutMs} ms. Try again later.`))
  }

  /** Ends the call early. */
  fail(cause: EgressFault): void {
    this.fault ??= cause
    this.#watcher?.fail(this.fault)
  }

  /** Registers the watcher that is failed when the call ends early. It replaces the previous watcher. */
  watch(watcher: Failing): void {
    this.#watcher = watcher
    if (this.fault !== undefined) watcher.fail(this.fault)
  }

  /** Registers a function that is called when the call is over, however it ended. */
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
